//! A file's bytes, and the text in them.
//!
//! Loading looks at the kind of a path before it opens it and opens without blocking, so that a named pipe
//! or a device never holds a call. Text is UTF-8 with or without a byte order mark; everything else is told
//! apart and never re-encoded (D12).

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;
use rustix::fs::OFlags;

use crate::files::ContentHash;
use crate::text::{LineEnding, TextKind, UTF8_BOM};

/// A regular file as it was at one moment.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The real path.
    pub path: PathBuf,
    /// The whole content.
    pub bytes: Vec<u8>,
    /// Its hash.
    pub hash: ContentHash,
}

/// What is no regular file and no folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
}

/// Why a file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Nothing is there.
    #[error("it does not exist")]
    Missing,
    /// A folder is there.
    #[error("it is a folder")]
    Folder,
    /// Something is there that could block or has no end.
    #[error("it is {}, not a regular file", .0.name())]
    Special(Special),
    /// The file is larger than the caller takes.
    #[error("it has {size} bytes, and the limit is {limit}")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system did not let it be read.
    #[error("it could not be read")]
    Io(#[source] io::Error),
}

/// The line endings of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endings {
    /// No line ends.
    None,
    /// Every line ends with LF.
    Lf,
    /// Every line ends with CRLF.
    CrLf,
    /// Both occur.
    Mixed,
}

/// The text of a file without its byte order mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Whether the file starts with a byte order mark.
    pub bom: bool,
    /// The text, with the line endings of the file.
    pub text: String,
}

impl Special {
    /// Names it with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        }
    }
}

/// Reads a regular file of at most `limit` bytes; links are followed.
pub fn load(path: &Path, limit: u64) -> Result<Loaded, LoadError> {
    regular(&fs::metadata(path).map_err(absent_or_io)?)?;
    // What is there may have been exchanged since: without blocking, a pipe opens at once and is found out.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(absent_or_io)?;
    let metadata = file.metadata().map_err(LoadError::Io)?;
    regular(&metadata)?;
    let bytes = read_at_most(file, metadata.len(), limit)?;
    Ok(Loaded {
        path: path.to_path_buf(),
        hash: ContentHash::of(&bytes),
        bytes,
    })
}

fn read_at_most(file: File, size: u64, limit: u64) -> Result<Vec<u8>, LoadError> {
    if size > limit {
        return Err(LoadError::TooLarge { size, limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // The file may grow while it is read, and files of the system say they are empty.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(LoadError::Io)?;
    let size = bytes.len() as u64;
    if size > limit {
        return Err(LoadError::TooLarge { size, limit });
    }
    Ok(bytes)
}

fn regular(metadata: &Metadata) -> Result<(), LoadError> {
    let kind = metadata.file_type();
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(LoadError::Folder)
    } else if kind.is_fifo() {
        Err(LoadError::Special(Special::Pipe))
    } else if kind.is_socket() {
        Err(LoadError::Special(Special::Socket))
    } else {
        Err(LoadError::Special(Special::Device))
    }
}

fn absent_or_io(err: io::Error) -> LoadError {
    match err.kind() {
        // Nothing is beneath a file either.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => LoadError::Missing,
        _ => LoadError::Io(err),
    }
}

impl Endings {
    /// Looks at every line of a text.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut lf, mut crlf) = (false, false);
        for at in memchr_iter(b'\n', bytes) {
            match at > 0 && bytes[at - 1] == b'\r' {
                true => crlf = true,
                false => lf = true,
            }
        }
        match (lf, crlf) {
            (false, false) => Self::None,
            (true, false) => Self::Lf,
            (false, true) => Self::CrLf,
            (true, true) => Self::Mixed,
        }
    }

    /// The one ending that every line has, if there is one.
    pub const fn uniform(self) -> Option<LineEnding> {
        match self {
            Self::Lf => Some(LineEnding::Lf),
            Self::CrLf => Some(LineEnding::CrLf),
            Self::None | Self::Mixed => None,
        }
    }

    /// The name that answers use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "lf",
            Self::CrLf => "crlf",
            Self::Mixed => "mixed",
        }
    }
}

impl Text {
    /// Decodes a file; the error says what it is instead of UTF-8.
    pub fn decode(bytes: &[u8]) -> Result<Self, TextKind> {
        let kind = TextKind::of(bytes);
        let bom = match kind {
            TextKind::Utf8 => false,
            TextKind::Utf8Bom => true,
            TextKind::Utf16Le | TextKind::Utf16Be | TextKind::NotUtf8 | TextKind::Binary => {
                return Err(kind);
            }
        };
        let body = if bom { &bytes[UTF8_BOM.len()..] } else { bytes };
        let text = std::str::from_utf8(body).map_err(|_| TextKind::NotUtf8)?;
        Ok(Self {
            bom,
            text: text.to_owned(),
        })
    }

    /// Makes the bytes of a file with another text and this file's byte order mark.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        let bom = if self.bom { UTF8_BOM } else { &[] };
        let mut bytes = Vec::with_capacity(bom.len() + text.len());
        bytes.extend_from_slice(bom);
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }
}

/// Gives every line of a text the same ending; lone carriage returns are content and stay.
pub fn with_endings(text: &str, ending: LineEnding) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(body) => {
                out.push_str(body.strip_suffix('\r').unwrap_or(body));
                out.push_str(ending.as_str());
            }
            None => out.push_str(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // D35: the endings of a file are known before anything is put into it.
    #[test]
    fn endings_are_told_apart() {
        for (text, endings) in [
            ("", Endings::None),
            ("a\rb", Endings::None),
            ("a\n", Endings::Lf),
            ("a\r\nb\r\n", Endings::CrLf),
            ("a\r\nb\n", Endings::Mixed),
            ("\n\r\n", Endings::Mixed),
        ] {
            assert_eq!(Endings::of(text), endings, "{text:?}");
        }
        assert_eq!(
            with_endings("a\nb\r\nc\rd\n", LineEnding::CrLf),
            "a\r\nb\r\nc\rd\r\n"
        );
        assert_eq!(with_endings("a\r\nb", LineEnding::Lf), "a\nb");
    }

    // D12, D35: the mark survives, and what is no UTF-8 is named.
    #[test]
    fn a_text_round_trips_with_its_mark() {
        let bytes = b"\xEF\xBB\xBFa\r\n";
        let text = Text::decode(bytes).unwrap();
        assert_eq!((text.bom, text.text.as_str()), (true, "a\r\n"));
        assert_eq!(text.encode(&text.text), bytes);
        assert_eq!(Text::decode(b"caf\xE9"), Err(TextKind::NotUtf8));
        assert_eq!(Text::decode(b"\xFF\xFEa\0"), Err(TextKind::Utf16Le));
    }
}
