//! The last bytes that a worker printed.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the last bytes of a stream; many threads may write and read.
#[derive(Debug)]
pub struct Ring {
    capacity: usize,
    bytes: Mutex<VecDeque<u8>>,
}

impl Ring {
    /// Makes an empty ring.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            bytes: Mutex::default(),
        }
    }

    /// Adds bytes; the oldest make room.
    pub fn push(&self, chunk: &[u8]) {
        let chunk = &chunk[chunk.len().saturating_sub(self.capacity)..];
        let mut bytes = self.lock();
        let excess = (bytes.len() + chunk.len()).saturating_sub(self.capacity);
        bytes.drain(..excess);
        bytes.extend(chunk);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// Returns what is kept; a cut at the front never shows half a character.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.lock().iter().copied().collect();
        let n_cut = bytes
            .iter()
            .take(3)
            .take_while(|byte| **byte & 0xC0 == 0x80)
            .count();
        String::from_utf8_lossy(&bytes[n_cut..]).into_owned()
    }

    /// Returns the last characters of what is kept, without blanks around them.
    pub fn tail(&self, max_chars: usize) -> String {
        let text = self.text();
        let text = text.trim();
        let n_cut = text.chars().count().saturating_sub(max_chars);
        let tail: String = text.chars().skip(n_cut).collect();
        tail.trim_start().to_owned()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_and_characters_stay_whole() {
        let ring = Ring::new(4);
        ring.push(b"abcd");
        assert_eq!(ring.text(), "abcd", "as much as fits");
        ring.push(b"e");
        assert_eq!(ring.text(), "bcde", "one more");
        ring.push("xyüz".as_bytes());
        assert_eq!(ring.text(), "yüz");
        ring.push("üü".as_bytes());
        ring.push(b"z");
        assert_eq!(ring.text(), "üz", "half of a character is left out");
        ring.push(b" a ");
        assert_eq!(ring.tail(2), "a");
        ring.clear();
        assert_eq!(ring.text(), "");
    }
}
