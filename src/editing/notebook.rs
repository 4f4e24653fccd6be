//! Notebooks as text: numbered cells, their sources whole, their outputs clipped.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::diff::Clipped;
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

/// Renders a notebook; none when the text is no notebook of format 4.
pub fn render(text: &str) -> Option<String> {
    let notebook: Notebook = serde_json::from_str(text).ok()?;
    let n_cells = notebook.cells.len();
    let mut out = String::new();
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
            push_text(&mut out, &clipped(&shown(output)));
        }
    }
    Some(out)
}

fn shown(output: Output) -> String {
    match output.output_type.as_str() {
        "stream" => output.text.joined(),
        "error" => format!("{}: {}", output.ename, output.evalue),
        _ => {
            let plain = output.data.get("text/plain").cloned();
            let plain = plain.and_then(|text| serde_json::from_value::<Lines>(text).ok());
            let others = output.data.keys().filter(|mime| *mime != "text/plain");
            let mut parts: Vec<String> = others.map(|mime| format!("[{mime}]")).collect();
            parts.extend(plain.map(Lines::joined));
            parts.join("\n")
        }
    }
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
        .assert_eq(&render(text).unwrap());
    }

    #[test]
    fn what_is_no_notebook_is_not_rendered() {
        assert_eq!(render("{}"), None);
        assert_eq!(render("{\"cells\": 1}"), None);
        assert_eq!(render("not json"), None);
        assert_eq!(render("{\"cells\": []}").as_deref(), Some(""));
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
