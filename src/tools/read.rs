//! `Read`: a file as numbered lines, as a picture, or as the cells of a notebook.

use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::{FileResources, load_file, not_text, resolve_readable};
use crate::editing::images::{ImageKind, binary_kind};
use crate::editing::notebook::{self, Picture};
use crate::editing::view::{View, ViewOptions, view};
use crate::editing::{Endings, Loaded, Text};
use crate::limits;
use crate::text::TextKind;
use crate::tool::{Call, ErrorKind, Image, Output, Tier, Tool, ToolError};

/// The tool `Read`.
#[derive(Clone, Debug)]
pub struct Read {
    files: FileResources,
}

/// The arguments of `Read`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArgs {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The first line to show, counted from 1. Default: 1.
    #[schemars(range(min = 1))]
    offset: Option<usize>,
    /// How many lines to show at most. Default: 2000, where the host names no other number.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// How many characters of each line to show at most. Default: 2000, where the host names no other number.
    #[schemars(range(min = 1))]
    line_chars: Option<usize>,
    /// Shows a notebook as the JSON that it is, which is what Edit changes.
    #[serde(default)]
    raw: bool,
}

/// What `Read` answers.
#[derive(Clone, Debug, Serialize)]
struct ReadReport {
    file: String,
    start_line: usize,
    end_line: usize,
    total_lines: usize,
    /// The shown lines, each ended with LF.
    content: String,
    truncated: bool,
    /// How the lines of the file end: `lf`, `crlf`, `mixed` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_ending: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<ImageRow>,
    /// The pictures of a notebook's outputs that come with the answer, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<PictureRow>,
    /// What is not shown, and how to see it.
    note: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct ImageRow {
    mime: &'static str,
    bytes: usize,
}

#[derive(Clone, Debug, Serialize)]
struct PictureRow {
    /// The number by which the text names it.
    picture: usize,
    mime: &'static str,
    bytes: usize,
}

/// Lines that were cut and pictures that were left out that are named one by one.
const CUT_LINES_NAMED: usize = 5;

impl Read {
    /// Makes the tool over the files of a run.
    pub fn new(files: FileResources) -> Self {
        Self { files }
    }

    fn picture(&self, shown: String, loaded: Loaded, kind: ImageKind) -> Result<Output, ToolError> {
        let limit = self.files.limits.image_bytes;
        let n_bytes = loaded.bytes.len();
        if n_bytes as u64 > limit {
            let message = format!(
                "{shown} is a {} picture of {n_bytes} bytes; the limit is {limit}",
                kind.name()
            );
            return Err(ToolError::new(ErrorKind::Failed, message)
                .with_hint("scale it down, or cut out the part that matters"));
        }
        let report = ReadReport {
            note: Some(format!("{} picture, {n_bytes} bytes", kind.name())),
            image: Some(ImageRow {
                mime: kind.mime(),
                bytes: n_bytes,
            }),
            ..ReadReport::empty(shown)
        };
        let image = Image {
            mime: kind.mime().to_owned(),
            bytes: loaded.bytes,
        };
        Ok(Output::report(&report)?.with_images(vec![image]))
    }

    /// Gives the pictures of the cells that are shown, as many as one answer holds, and says what is left out.
    fn pictures(&self, pictures: Vec<Picture>, report: &mut ReadReport) -> Vec<Image> {
        let shown = report.start_line..=report.end_line;
        let limit = self.files.limits.image_bytes;
        let (mut images, mut left_out, mut n_bytes) = (Vec::new(), Vec::new(), 0);
        for picture in pictures {
            if !shown.contains(&picture.line) {
                continue;
            }
            let with_it = n_bytes + picture.bytes.len() as u64;
            if with_it > limit || images.len() == limits::NOTEBOOK_PICTURES {
                left_out.push(format!(
                    "{} ({} bytes)",
                    picture.number,
                    picture.bytes.len()
                ));
                continue;
            }
            n_bytes = with_it;
            report.pictures.push(PictureRow {
                picture: picture.number,
                mime: picture.kind.mime(),
                bytes: picture.bytes.len(),
            });
            images.push(Image {
                mime: picture.kind.mime().to_owned(),
                bytes: picture.bytes,
            });
        }
        if let [.., last] = &report.pictures[..] {
            let (first, last) = (report.pictures[0].picture, last.picture);
            report.add_note(match images.len() {
                1 => format!("picture {first} comes with it"),
                n => format!("{n} pictures come with it, from {first} to {last}"),
            });
        }
        if !left_out.is_empty() {
            let n_more = left_out.len().saturating_sub(CUT_LINES_NAMED);
            left_out.truncate(CUT_LINES_NAMED);
            let more = match n_more {
                0 => String::new(),
                n_more => format!(" and {n_more} more"),
            };
            report.add_note(format!(
                "left out: picture {}{more}; one answer holds {} pictures of {limit} bytes together, and a \
                 later offset shows later ones",
                left_out.join(", "),
                limits::NOTEBOOK_PICTURES
            ));
        }
        images
    }

    fn options(&self, args: &ReadArgs) -> Result<ViewOptions, ToolError> {
        for (name, value) in [
            ("offset", args.offset),
            ("limit", args.limit),
            ("line_chars", args.line_chars),
        ] {
            if value == Some(0) {
                return Err(ToolError::invalid_args(format!("{name} is 0"))
                    .with_hint("pass 1 or more, or leave it out; lines count from 1"));
            }
        }
        let limits = &self.files.limits;
        Ok(ViewOptions {
            offset: args.offset.unwrap_or(1),
            limit: args.limit.unwrap_or(limits.lines),
            line_chars: args.line_chars.unwrap_or(limits.line_chars),
            bytes: limits.text_bytes,
        })
    }
}

impl Tool for Read {
    const NAME: &'static str = "Read";
    const TIER: Tier = Tier::Read;
    type Args = ReadArgs;

    fn description(&self) -> String {
        let limits = &self.files.limits;
        DESCRIPTION
            .replace("{lines}", &thousands(limits.lines as u64))
            .replace("{line_chars}", &thousands(limits.line_chars as u64))
    }

    fn run(&self, call: &Call<'_>, args: ReadArgs) -> Result<Output, ToolError> {
        let options = self.options(&args)?;
        let files = &self.files;
        let workspace = &files.workspace;
        let real = resolve_readable(files, &args.path)?;
        let loaded = load_file(workspace, &real, files.limits.file_bytes)?;
        call.check_cancelled()?;
        let shown = workspace.display(&real);
        let hash = loaded.hash;
        if let Some(kind) = ImageKind::of(&loaded.bytes) {
            let output = self.picture(shown, loaded, kind)?;
            files.ledger.record(&real, hash);
            return Ok(output);
        }
        let text = Text::decode(&loaded.bytes).map_err(|kind| unreadable(kind, &shown, &loaded))?;
        let cells = (!args.raw && is_notebook(&real))
            .then(|| notebook::render(&text.text))
            .flatten();
        let body = cells.as_ref().map_or(&text.text, |cells| &cells.text);
        let part = view(body, &options).map_err(|past| {
            let n_lines = past.total_lines;
            ToolError::invalid_args(format!("{past} in {shown}"))
                .with_hint(format!("pass an offset from 1 to {n_lines}"))
        })?;
        // Whoever saw a part of a file has looked at it.
        files.ledger.record(&real, hash);
        let endings = Endings::of(&text.text);
        let mut report = ReadReport::of(shown, part);
        report.line_ending = Some(endings.name());
        let Some(cells) = cells else {
            return Output::report(&report);
        };
        let note =
            "a notebook, shown as its cells; pass raw true to see the JSON that Edit changes";
        report.add_note(note.to_owned());
        let images = self.pictures(cells.pictures, &mut report);
        Ok(Output::report(&report)?.with_images(images))
    }
}

/// A number as people write it.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn is_notebook(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "ipynb")
}

fn unreadable(kind: TextKind, shown: &str, loaded: &Loaded) -> ToolError {
    if kind != TextKind::Binary {
        return not_text(kind, shown);
    }
    let what = binary_kind(&loaded.bytes);
    let n_bytes = loaded.bytes.len();
    ToolError::new(
        ErrorKind::Failed,
        format!("{shown} is {what} ({n_bytes} bytes)"),
    )
    .with_hint("Read shows text, notebooks and pictures (PNG, JPEG, GIF, WebP)")
}

impl ReadReport {
    fn empty(file: String) -> Self {
        Self {
            file,
            start_line: 0,
            end_line: 0,
            total_lines: 0,
            content: String::new(),
            truncated: false,
            line_ending: None,
            image: None,
            pictures: Vec::new(),
            note: None,
        }
    }

    fn of(file: String, part: View) -> Self {
        let mut report = Self {
            start_line: part.start_line,
            end_line: part.end_line,
            total_lines: part.total_lines,
            truncated: part.is_truncated(),
            ..Self::empty(file)
        };
        if part.total_lines == 0 {
            report.add_note("the file is empty".to_owned());
        } else if part.start_line > 1 || part.end_line < part.total_lines {
            let (start, end, total) = (part.start_line, part.end_line, part.total_lines);
            let more = match end < total {
                true => format!("; pass offset {} to go on", end + 1),
                false => String::new(),
            };
            let why = if part.full {
                " (as much as one answer holds)"
            } else {
                ""
            };
            report.add_note(format!("lines {start} to {end} of {total}{why}{more}"));
        }
        if !part.cut.is_empty() {
            let named: Vec<String> = part
                .cut
                .iter()
                .take(CUT_LINES_NAMED)
                .map(|(line, n_chars)| format!("{line} ({n_chars} characters)"))
                .collect();
            let more = match part.cut.len() - named.len() {
                0 => String::new(),
                n_more => format!(" and {n_more} more"),
            };
            report.add_note(format!(
                "long lines were cut: {}{more}; pass line_chars to see more of them",
                named.join(", ")
            ));
        }
        report.content = part.content;
        report
    }

    fn add_note(&mut self, note: String) {
        self.note = Some(match self.note.take() {
            Some(before) => format!("{before}; {note}"),
            None => note,
        });
    }
}

impl fmt::Display for ReadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.end_line > 0 {
            let content = self.content.strip_suffix('\n').unwrap_or(&self.content);
            for (line_idx, line) in content.split('\n').enumerate() {
                writeln!(f, "{:>6}\t{line}", self.start_line + line_idx)?;
            }
        }
        match &self.note {
            Some(note) => write!(f, "({}: {note})", self.file),
            None => Ok(()),
        }
    }
}

const DESCRIPTION: &str = "\
Reads a file: text as numbered lines, PNG, JPEG, GIF and WebP as pictures, notebooks as their cells with the \
pictures of their outputs.

Shows up to {lines} lines of up to {line_chars} characters; where that is not all, the answer says so and names the \
offset to go on from. Pass offset and limit when you know the part you need of a long file; otherwise read the \
whole file. The number and the tab before each line are not part of the file: leave them out of what you give \
to Edit.

Read a file before you Edit it. To find files use Glob, to find text use Grep, to find code by its shape use \
ast_grep. A path that is nearly right gets suggestions; for a folder the error lists what it holds.";
