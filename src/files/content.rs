//! Content hashes and the state of a directory entry.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::journal::RawPath;

/// The SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

/// What a path is at one moment, links not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Entry {
    /// Nothing is there.
    Absent,
    /// A regular file with this content.
    File(ContentHash),
    /// A symbolic link with this target.
    Link(LinkTarget),
    /// A folder, a device or anything else that a commit never changes.
    Other,
}

/// The text of a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTarget(pub(super) RawPath);

impl ContentHash {
    /// Hashes bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes the file at `path`, links followed.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Self(hasher.finalize().into())),
                Ok(n_read) => hasher.update(&buffer[..n_read]),
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
    }
}

impl LinkTarget {
    /// The target as the link spells it.
    pub fn path(&self) -> &Path {
        &self.0.0
    }
}

impl Entry {
    /// Looks at `path`.
    pub fn at(path: &Path) -> io::Result<Self> {
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(err) if is_absence(&err) => return Ok(Self::Absent),
            Err(err) => return Err(err),
        };
        if metadata.is_file() {
            Ok(Self::File(ContentHash::of_file(path)?))
        } else if metadata.is_symlink() {
            Ok(Self::Link(LinkTarget(RawPath(path.read_link()?))))
        } else {
            Ok(Self::Other)
        }
    }
}

/// Nothing is at a path below a file either.
pub(super) fn is_absence(err: &io::Error) -> bool {
    matches!(
        err.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// Says that a text is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a content hash has 64 hexadecimal digits")]
pub struct ParseHashError;

impl FromStr for ContentHash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ParseHashError);
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(ParseHashError);
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let value = digit(pair[0])? * 16 + digit(pair[1])?;
            *byte = u8::try_from(value).map_err(|_| ParseHashError)?;
        }
        Ok(Self(hash))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R67: the hash is the SHA-256 of the bytes and survives its text form.
    #[test]
    fn a_hash_is_the_sha_256_and_round_trips() {
        let hash = ContentHash::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!("ba78".parse::<ContentHash>(), Err(ParseHashError));
        assert_eq!("é".repeat(32).parse::<ContentHash>(), Err(ParseHashError));
    }
}
