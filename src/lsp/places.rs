//! Places that servers name, as answers show them: file, line, column and the line's text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{Position, Range};
use serde::Serialize;
use serde_json::Value;

use crate::limits;
use crate::lsp::client::Server;
use crate::lsp::convert::{Encoding, Lines};
use crate::lsp::documents::Content;
use crate::lsp::uri;
use crate::text::{LineIndex, clip};
use crate::workspace::Workspace;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// The file: relative inside the workspace, absolute outside, and a URI where it is no file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in scalar values, from 1.
    pub column: usize,
    /// What stands on the line.
    pub text: String,
    /// Whether the symbol is declared here, where that is known.
    #[serde(skip_serializing_if = "is_false")]
    pub declaration: bool,
}

/// A place as a server names it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) uri: String,
    pub(crate) range: Range,
}

/// Turns places into locations; a file that several name is read once.
pub(crate) struct Reader<'a> {
    workspace: &'a Workspace,
    server: &'a Server,
    texts: BTreeMap<PathBuf, Known>,
    /// The files outside the workspace that were named (D36).
    pub(crate) outside: Vec<PathBuf>,
}

/// A file as far as it can be read.
#[derive(Clone)]
enum Known {
    /// With the starts of its lines as the protocol and as people count them.
    Text {
        text: Arc<str>,
        lines: Arc<[usize]>,
        shown: Arc<[usize]>,
    },
    /// No text for a server, such as one in an older encoding, with the starts of its lines.
    Bytes {
        bytes: Arc<[u8]>,
        starts: Arc<[usize]>,
    },
}

impl Place {
    /// Reads `Location`, `Location[]`, `LocationLink[]` or null.
    pub(crate) fn read_all(value: &Value) -> Vec<Self> {
        match value {
            Value::Array(values) => values.iter().filter_map(Self::read).collect(),
            value => Self::read(value).into_iter().collect(),
        }
    }

    pub(crate) fn read(value: &Value) -> Option<Self> {
        let uri = value["targetUri"].as_str().or(value["uri"].as_str())?;
        let range = [
            &value["targetSelectionRange"],
            &value["targetRange"],
            &value["range"],
        ];
        let range = range.into_iter().find(|range| !range.is_null());
        Some(Self {
            uri: uri.to_owned(),
            range: range
                .and_then(|range| serde_json::from_value(range.clone()).ok())
                .unwrap_or_default(),
        })
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(workspace: &'a Workspace, server: &'a Server) -> Self {
        Self {
            workspace,
            server,
            texts: BTreeMap::new(),
            outside: Vec::new(),
        }
    }

    /// Whether a place is in a file of the server's project that is gone: an index on disk remembers it for a
    /// while.
    pub(crate) fn is_gone(&self, uri: &str) -> bool {
        uri::to_path(uri).is_some_and(|path| {
            path.starts_with(self.server.root()) && path.symlink_metadata().is_err()
        })
    }

    /// Returns a place as it is shown.
    pub(crate) fn location(&mut self, place: &Place) -> Location {
        let Some(path) = uri::to_path(&place.uri) else {
            // A class file or a virtual document: nothing there can be opened.
            return Location {
                file: place.uri.clone(),
                line: place.range.start.line as usize + 1,
                column: place.range.start.character as usize + 1,
                text: String::new(),
                declaration: false,
            };
        };
        let (line, column, text) = self.at(&path, place.range.start);
        Location {
            file: self.show(&path),
            line,
            column,
            text,
            declaration: false,
        }
    }

    /// Returns line, column and text of a place in a file.
    pub(crate) fn at(&mut self, path: &Path, start: Position) -> (usize, usize, String) {
        let encoding = self.server.encoding();
        let (text, lines, shown) = match self.known(path) {
            Known::Text { text, lines, shown } => (text, lines, shown),
            Known::Bytes { bytes, starts } => return unreadable(&bytes, &starts, start, encoding),
        };
        let offset = Lines::with_starts(&text, lines).offset(start, encoding);
        let index = LineIndex::with_starts(text.as_bytes(), shown);
        let position = index.position(offset);
        let line = index.line(position.line).unwrap_or_default();
        (
            position.line,
            position.column,
            clip(line.trim(), limits::LINE_CHARS).into_owned(),
        )
    }

    /// Returns a path as it is shown, and notes it when it lies outside.
    pub(crate) fn show(&mut self, path: &Path) -> String {
        if !self.workspace.contains(path) && !self.outside.iter().any(|known| known == path) {
            self.outside.push(path.to_path_buf());
        }
        self.workspace.display(path)
    }

    /// The text that the server has, or that of the file; a file that several places name is read once.
    fn known(&mut self, path: &Path) -> Known {
        match self.texts.entry(path.to_path_buf()) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let open = self.server.document(path).map(|document| document.text);
                let text = open.or_else(|| Content::read(path).ok().map(|content| content.text));
                let known = match text {
                    Some(text) => Known::Text {
                        lines: Lines::new(&text).starts(),
                        shown: LineIndex::new(text.as_bytes()).starts(),
                        text,
                    },
                    None => bytes(path),
                };
                new.insert(known).clone()
            }
        }
    }
}

fn bytes(path: &Path) -> Known {
    let is_bounded = path
        .metadata()
        .is_ok_and(|it| it.is_file() && it.len() <= limits::LSP_DOCUMENT_BYTES);
    let bytes = match is_bounded {
        true => std::fs::read(path).unwrap_or_default(),
        false => Vec::new(),
    };
    let ends = memchr::memchr_iter(b'\n', &bytes).map(|end| end + 1);
    Known::Bytes {
        starts: std::iter::once(0).chain(ends).collect(),
        bytes: bytes.into(),
    }
}

/// A place in a file that is no text for a server: columns count characters there as well, a byte that is none
/// for one.
fn unreadable(
    bytes: &[u8],
    starts: &[usize],
    start: Position,
    encoding: Encoding,
) -> (usize, usize, String) {
    let (line, character) = (start.line as usize, start.character as usize);
    let Some(from) = starts.get(line).filter(|_| !bytes.is_empty()) else {
        return (line + 1, character + 1, String::new());
    };
    let end = starts.get(line + 1).map_or(bytes.len(), |next| next - 1);
    let bytes = &bytes[*from..end];
    let text = String::from_utf8_lossy(bytes);
    let column = match encoding {
        Encoding::Utf8 => {
            let before = &bytes[..character.min(bytes.len())];
            String::from_utf8_lossy(before).chars().count()
        }
        Encoding::Utf16 | Encoding::Utf32 => {
            let lines = Lines::new(&text);
            let character = start.character;
            let before = lines.offset(Position { line: 0, character }, encoding);
            text[..before].chars().count()
        }
    };
    let text = clip(text.trim(), limits::LINE_CHARS).into_owned();
    (line + 1, column + 1, text)
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)?;
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        if self.declaration {
            f.write_str("  [declaration]")?;
        }
        Ok(())
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // R22: a place in an old encoding has the line that stands there, whichever of its lines it is.
    #[test]
    fn places_in_an_old_encoding_count_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.c");
        std::fs::write(&path, b"// caf\xe9\nint a; /* \xe9 */ int b;\n").unwrap();
        let Known::Bytes { bytes, starts } = bytes(&path) else {
            panic!("it is no UTF-8");
        };
        let at = |line, character| {
            let place = Position { line, character };
            unreadable(&bytes, &starts, place, Encoding::Utf8)
        };
        assert_eq!(at(0, 3), (1, 4, "// caf\u{fffd}".to_owned()));
        let second = "int a; /* \u{fffd} */ int b;";
        assert_eq!(at(1, 19), (2, 20, second.to_owned()));
        assert_eq!(at(2, 0), (3, 1, String::new()));
        assert_eq!(at(9, 4), (10, 5, String::new()));
        let Known::Bytes { bytes, starts } = bytes_of_nothing(folder.path()) else {
            panic!("there is nothing");
        };
        let nowhere = unreadable(&bytes, &starts, Position::new(1, 2), Encoding::Utf16);
        assert_eq!(nowhere, (2, 3, String::new()));
    }

    fn bytes_of_nothing(folder: &Path) -> Known {
        bytes(&folder.join("gone.c"))
    }

    #[test]
    fn every_shape_of_an_answer_is_read() {
        let range =
            json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}});
        let one = json!({"uri": "file:///a", "range": range});
        let link = json!({"targetUri": "file:///a", "targetRange": {
            "start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}
        }, "targetSelectionRange": range});
        let read = |value: Value| Place::read_all(&value);
        let expected = Place {
            uri: "file:///a".to_owned(),
            range: Range::new(Position::new(1, 2), Position::new(1, 3)),
        };
        let expected = vec![expected];
        assert_eq!(read(one.clone()), expected);
        assert_eq!(read(json!([one])), expected);
        assert_eq!(read(json!([link])), expected);
        assert_eq!(read(json!(null)), []);
        assert_eq!(read(json!([{"range": 3}])), []);
    }
}
