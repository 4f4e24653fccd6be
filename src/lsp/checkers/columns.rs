//! The columns of checkers, which count bytes or code units, turned into the characters that answers count.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::table::Columns;

/// Turns columns in other units into characters; it reads each file once.
#[derive(Default)]
pub(super) struct ColumnsOf(BTreeMap<PathBuf, Vec<u8>>);

impl ColumnsOf {
    pub(super) fn of(&mut self, path: &Path, line: usize, column: usize, unit: Columns) -> usize {
        if unit == Columns::Characters || line == 0 || column <= 1 {
            return column;
        }
        if !self.0.contains_key(path) {
            let bytes = std::fs::read(path).unwrap_or_default();
            self.0.insert(path.to_owned(), bytes);
        }
        let bytes = self.0.get(path).map(Vec::as_slice).unwrap_or_default();
        let text = bytes.split(|&byte| byte == b'\n').nth(line - 1);
        let text = String::from_utf8_lossy(text.unwrap_or_default());
        let mut units = column - 1;
        let mut characters = 0;
        for ch in text.chars() {
            let width = match unit {
                Columns::Bytes => ch.len_utf8(),
                Columns::Utf16 => ch.len_utf16(),
                Columns::Characters => 1,
            };
            if units < width {
                break;
            }
            units -= width;
            characters += 1;
        }
        // Past the end of the line the units are taken as characters.
        characters + units + 1
    }
}
