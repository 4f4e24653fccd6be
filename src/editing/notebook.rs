//! Notebooks as text: numbered cells, their sources whole, their outputs clipped, and the pictures of those
//! outputs beside it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::diff::Clipped;
use crate::editing::images::ImageKind;
use crate::limits;
use crate::text::clip;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: Lines,
    #[serde(default)]
    execution_count: Option<u64>,
    #[serde(default)]
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    output_type: String,
    #[serde(default)]
    text: Lines,
    #[serde(default)]
    data: Map<String, Value>,
    #[serde(default)]
    ename: String,
    #[serde(default)]
    evalue: String,
}

/// Text as one string or as a list of lines: the format allows both.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    One(String),
    Many(Vec<String>),
}

impl Default for Lines {
    fn default() -> Self {
        Self::One(String::new())
    }
}

impl Lines {
    fn joined(self) -> String {
        match self {
            Self::One(text) => text,
            Self::Many(lines) => lines.concat(),
        }
    }
}

/// A notebook as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The cells.
    pub text: String,
    /// The pictures of their outputs, in their order; the text says where each belongs.
    pub pictures: Vec<Picture>,
}

/// A picture that an output shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its number in the notebook, from 1, by which the text names it.
    pub number: usize,
    /// The line of the text that names it, from 1.
    pub line: usize,
    /// What it is.
    pub kind: ImageKind,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Renders a notebook; none when the text is no notebook of format 4.
pub fn render(text: &str) -> Option<Rendered> {
    let notebook: Notebook = serde_json::from_str(text).ok()?;
    let n_cells = notebook.cells.len();
    let mut out = String::new();
    let mut pictures = Vec::new();
    for (cell_idx, cell) in notebook.cells.into_iter().enumerate() {
        if cell_idx > 0 {
            out.push('\n');
        }
        let count = match cell.execution_count {
            Some(count) => format!(", In [{count}]"),
            None => String::new(),
        };
        let number = cell_idx + 1;
        out.push_str(&format!(
            "# cell {number} of {n_cells} ({}{count})\n",
            cell.cell_type
        ));
        push_text(&mut out, &cell.source.joined());
        for output in cell.outputs {
            out.push_str(&format!("# output of cell {number}\n"));
            let first_line = out.matches('\n').count() + 1;
            let shown = shown(output, first_line, &mut pictures);
            push_text(&mut out, &clipped(&shown));
        }
    }
    Some(Rendered {
        text: out,
        pictures,
    })
}

/// The text of an output that begins on a line; its pictures join the others.
fn shown(output: Output, first_line: usize, pictures: &mut Vec<Picture>) -> String {
    match output.output_type.as_str() {
        "stream" => output.text.joined(),
        "error" => format!("{}: {}", output.ename, output.evalue),
        _ => {
            let plain = output.data.get("text/plain").cloned();
            let plain = plain.and_then(|text| serde_json::from_value::<Lines>(text).ok());
            let others = output.data.iter().filter(|(mime, _)| *mime != "text/plain");
            let mut parts = Vec::new();
            for (mime, content) in others {
                let one_line = parts.len() < limits::NOTEBOOK_OUTPUT_LINES;
                parts.push(match picture(mime, content).filter(|_| one_line) {
                    Some((kind, bytes)) => {
                        let number = pictures.len() + 1;
                        pictures.push(Picture {
                            number,
                            line: first_line + parts.len(),
                            kind,
                            bytes,
                        });
                        format!("[{mime}: picture {number}]")
                    }
                    None => format!("[{}]", mime.escape_debug()),
                });
            }
            parts.extend(plain.map(Lines::joined));
            parts.join("\n")
        }
    }
}

/// Decodes a picture, where it is one that model interfaces take.
fn picture(mime: &str, content: &Value) -> Option<(ImageKind, Vec<u8>)> {
    mime.strip_prefix("image/")?;
    let lines: Lines = serde_json::from_value(content.clone()).ok()?;
    let mut letters = lines.joined();
    letters.retain(|letter| !letter.is_ascii_whitespace());
    let bytes = STANDARD.decode(letters).ok()?;
    Some((ImageKind::of(&bytes)?, bytes))
}

fn clipped(text: &str) -> String {
    let text = clip(text, limits::NOTEBOOK_OUTPUT_CHARS);
    let lines = Clipped::new(&text, limits::NOTEBOOK_OUTPUT_LINES);
    match lines.cut() {
        0 => lines.text,
        cut => format!("{}… {cut} more lines of output\n", lines.text),
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(text);
    if !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R143: cells are numbered, sources whole, outputs named.
    #[test]
    fn cells_and_outputs_are_shown() {
        let text = r##"{"nbformat": 4, "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "text"], "metadata": {}},
            {"cell_type": "code", "execution_count": 3, "source": "1 + 1", "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["hi\n"]},
                {"output_type": "execute_result", "data": {"image/png": "aGk=", "text/plain": ["2"]}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}
            ]}
        ]}"##;
        expect_test::expect![[r#"
            # cell 1 of 2 (markdown)
            # Title
            text

            # cell 2 of 2 (code, In [3])
            1 + 1
            # output of cell 2
            hi
            # output of cell 2
            [image/png]
            2
            # output of cell 2
            KeyError: 'x'
        "#]]
        .assert_eq(&render(text).unwrap().text);
    }

    #[test]
    fn what_is_no_notebook_is_not_rendered() {
        assert_eq!(render("{}"), None);
        assert_eq!(render("{\"cells\": 1}"), None);
        assert_eq!(render("not json"), None);
        assert_eq!(render("{\"cells\": []}"), Some(Rendered::default()));
    }

    // R143: a picture of an output has a number and a place; what is none is named alone.
    #[test]
    fn pictures_of_outputs_are_numbered() {
        let png = STANDARD.encode(b"\x89PNG\r\n\x1A\nab");
        let (start, end) = png.split_at(5);
        let text = serde_json::json!({"cells": [
            {"cell_type": "code", "source": "plot()", "outputs": [
                {"output_type": "display_data", "data": {
                    "image/png": [format!("{start}\n"), end], "text/plain": "<Figure>"}},
                {"output_type": "display_data", "data": {
                    "image/jpeg": "no base64!", "image/png": png, "image/svg+xml": "<svg/>"}},
            ]},
        ]});
        let rendered = render(&text.to_string()).unwrap();
        let lines: Vec<&str> = rendered.text.lines().collect();
        let found: Vec<_> = rendered
            .pictures
            .iter()
            .map(|picture| (picture.number, lines[picture.line - 1], picture.bytes.len()))
            .collect();
        let line = |number| format!("[image/png: picture {number}]");
        assert_eq!(found, [(1, &*line(1), 10), (2, &*line(2), 10)]);
        assert!(
            rendered.text.contains("[image/jpeg]\n"),
            "{}",
            rendered.text
        );
        assert!(rendered.text.contains("[image/svg+xml]\n"));
    }

    // Outputs are clipped at n and n + 1 lines.
    #[test]
    fn long_outputs_are_clipped() {
        let n_lines = limits::NOTEBOOK_OUTPUT_LINES;
        assert_eq!(clipped(&"x\n".repeat(n_lines)), "x\n".repeat(n_lines));
        let longer = clipped(&"x\n".repeat(n_lines + 1));
        assert!(
            longer.ends_with("x\n… 1 more lines of output\n"),
            "{longer}"
        );
    }
}
