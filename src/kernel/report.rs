//! What came of a cell, as text and as JSON.
//!
//! The text keeps output and displays in the order in which they came; the JSON has them apart, and both
//! are made from one value.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// What a cell did.
#[derive(Clone, Debug, Serialize)]
pub struct CellReport {
    /// How it ended.
    pub status: CellStatus,
    /// Standard output and standard error in the order written, head and tail where it is long.
    pub output: String,
    /// How many bytes were printed.
    pub output_bytes: u64,
    /// The file that holds the whole output, when `output` does not.
    pub output_file: Option<PathBuf>,
    /// The value of the last expression as text.
    pub result: Option<String>,
    /// The file that holds the whole result, when `result` does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_file: Option<PathBuf>,
    /// Richer forms of the result by media type, such as the HTML of a table.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub result_bundle: BTreeMap<String, String>,
    /// What was shown, in order; the pictures of the result are among them.
    pub displays: Vec<Display>,
    /// Displays that are not listed because there were too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub displays_dropped: usize,
    /// What the cell raised.
    pub error: Option<CellError>,
    /// The status that the cell, or with it the interpreter, ended with.
    pub exit_code: Option<i64>,
    /// The signal that ended the interpreter, such as `SIGSEGV`.
    pub signal: Option<String>,
    /// Why the cell was interrupted.
    pub reason: Option<StopReason>,
    /// Whether the variables are still there.
    pub state_kept: bool,
    /// Counts the cells of this interpreter, from 1.
    pub execution_count: u64,
    /// The interpreter: its path and version.
    pub interpreter: String,
    /// What happened before the cell, such as a reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The output between displays: part `i` comes before display `i`.
    #[serde(skip)]
    pub(crate) parts: Vec<String>,
    /// How many of the displays were made by the cell and stand in the output.
    #[serde(skip)]
    pub(crate) n_placed: usize,
}

/// How a cell ended (D25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellStatus {
    /// It ran to its end.
    Ok,
    /// It raised.
    Error,
    /// It was interrupted, and the interpreter lives on.
    Interrupted,
    /// It asked to end, and the interpreter lives on.
    Exit,
    /// The interpreter is gone.
    Died,
}

/// Why a cell was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// Nothing came from it within its budget (R111).
    Inactivity,
    /// The call was cancelled.
    Cancel,
}

/// One value that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Display {
    /// The media type of its richest form.
    pub mime: String,
    /// That form: text, or base64 of a picture's bytes.
    pub data: String,
    /// Its plain text, when `data` is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The file that holds the whole text, when this does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The media type.
    pub mime: String,
    /// The encoded picture.
    pub bytes: Vec<u8>,
}

/// What a cell raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellError {
    /// The type.
    pub name: String,
    /// The message.
    pub value: String,
    /// The frames of the user's code.
    pub traceback: String,
}

impl CellStatus {
    /// Returns the name that the JSON uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
            Self::Exit => "exit",
            Self::Died => "died",
        }
    }
}

impl CellReport {
    /// Returns the pictures among the displays, decoded.
    pub fn pictures(&self) -> Vec<Picture> {
        let displays = self.displays.iter();
        displays
            .filter_map(|display| {
                Some(Picture {
                    mime: display.mime.clone(),
                    bytes: display.picture()?,
                })
            })
            .collect()
    }

    fn ending(&self) -> Option<String> {
        let state = match self.state_kept {
            true => "the variables are kept",
            false => "its variables are gone, and the next cell starts a new one",
        };
        let because = match self.reason {
            Some(StopReason::Inactivity) => {
                " because it neither printed nor showed anything for too long"
            }
            Some(StopReason::Cancel) => " because the call was cancelled",
            None => "",
        };
        match self.status {
            CellStatus::Ok | CellStatus::Error => None,
            CellStatus::Interrupted => Some(format!("interrupted{because}; {state}")),
            CellStatus::Exit => Some(format!(
                "the cell ended itself with exit code {}; {state}",
                self.exit_code.unwrap_or_default()
            )),
            CellStatus::Died => {
                let how = match (&self.signal, self.exit_code) {
                    (Some(signal), _) => format!("killed by {signal}"),
                    (None, Some(code)) => format!("exit code {code}"),
                    (None, None) => "for an unknown cause".to_owned(),
                };
                let ours = match self.reason {
                    Some(_) => format!(" after it did not heed the interrupt{because}"),
                    None => String::new(),
                };
                Some(format!("the interpreter died ({how}){ours}; {state}"))
            }
        }
    }
}

impl Display {
    /// Returns the bytes of a picture that a model can look at.
    fn picture(&self) -> Option<Vec<u8>> {
        use base64::Engine;
        let raster = self.mime.starts_with("image/") && self.mime != "image/svg+xml";
        if !raster {
            return None;
        }
        let text: String = self.data.split_ascii_whitespace().collect();
        base64::engine::general_purpose::STANDARD.decode(text).ok()
    }
}

impl fmt::Display for Display {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bytes) = self.picture() {
            write!(f, "[{}, {} bytes", self.mime, bytes.len())?;
            match &self.text {
                Some(text) if !text.is_empty() => write!(f, ": {text}]"),
                _ => write!(f, "]"),
            }
        } else {
            match &self.text {
                Some(text) if !is_generic(text) => f.write_str(text),
                _ => f.write_str(&self.data),
            }
        }
    }
}

impl fmt::Display for CellReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if let Some(note) = &self.note {
            text.push_str(&format!("[{note}]\n"));
        }
        let mut displays = self.displays.iter();
        for (at, part) in self.parts.iter().enumerate() {
            text.push_str(&settled(part));
            if at < self.n_placed
                && let Some(display) = displays.next()
            {
                line(&mut text, &display.to_string());
            }
        }
        if self.displays_dropped > 0 {
            line(
                &mut text,
                &format!("[{} more displays are not shown]", self.displays_dropped),
            );
        }
        // A repr that says nothing is left out where a richer form stands below it.
        let rich = displays.len() > 0;
        if let Some(result) = &self.result
            && !(rich && is_generic(result))
        {
            let gap = if result.contains('\n') { '\n' } else { ' ' };
            line(
                &mut text,
                &format!("Out[{}]:{gap}{result}", self.execution_count),
            );
        }
        for display in displays {
            line(&mut text, &display.to_string());
        }
        if let Some(error) = &self.error {
            line(&mut text, &error.traceback);
        }
        if let Some(ending) = self.ending() {
            line(&mut text, &format!("[{ending}]"));
        }
        if text.is_empty() {
            text.push_str("(no output)\n");
        }
        f.write_str(text.trim_end_matches('\n'))
    }
}

/// The repr of an object that has none of its own says less than its other forms.
pub(crate) fn is_generic(text: &str) -> bool {
    text.is_empty()
        || (text.starts_with('<') && (text.ends_with(" object>") || text.contains(" object at 0x")))
}

/// Appends a text on lines of its own.
fn line(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
    text.push('\n');
}

/// What a terminal would show of progress bars: of a line that was written over, the last state.
fn settled(part: &str) -> String {
    if !part.contains('\r') {
        return part.to_owned();
    }
    let lines = part.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.rsplit('\r')
            .find(|state| !state.is_empty())
            .unwrap_or_default()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
