//! The last bytes of what a debuggee wrote.

use std::collections::VecDeque;

/// Keeps the last bytes of a text and counts what was dropped (D20).
///
/// Carriage returns before line feeds go: adapters run programs on terminals of their own. A cut never
/// shows half a character.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    bytes: VecDeque<u8>,
    capacity: usize,
    /// How many bytes were ever kept, the dropped ones included.
    total: u64,
    /// A carriage return at the end of a piece: whether it stays depends on what follows.
    held: bool,
}

impl Ring {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            capacity,
            total: 0,
            held: false,
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    pub(crate) fn push_bytes(&mut self, mut text: &[u8]) {
        if self.held && !text.is_empty() {
            self.held = false;
            if text[0] != b'\n' {
                self.keep(b"\r");
            }
        }
        while let Some(at) = text.iter().position(|byte| *byte == b'\r') {
            self.keep(&text[..at]);
            match text.get(at + 1) {
                Some(b'\n') => {}
                Some(_) => self.keep(b"\r"),
                None => self.held = true,
            }
            text = &text[at + 1..];
        }
        self.keep(text);
    }

    /// How many bytes there ever were.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// How many bytes were dropped at the front.
    pub(crate) fn dropped(&self) -> u64 {
        self.total - self.bytes.len() as u64
    }

    /// What is kept.
    pub(crate) fn text(&self) -> String {
        self.since(0)
    }

    /// What is kept of what came after the first `mark` bytes.
    pub(crate) fn since(&self, mark: u64) -> String {
        let from = mark.saturating_sub(self.dropped());
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let mut bytes: Vec<u8> = self.bytes.iter().skip(from).copied().collect();
        if self.dropped() > mark {
            let half = bytes
                .iter()
                .take(3)
                .take_while(|byte| **byte & 0xC0 == 0x80)
                .count();
            bytes.drain(..half);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.capacity)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.capacity);
        self.bytes.drain(..excess.min(self.bytes.len()));
        self.bytes.extend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D20: the ring keeps n bytes, and of n and one more it drops the oldest.
    #[test]
    fn keeps_the_last_bytes_and_counts_the_dropped() {
        let mut ring = Ring::new(4);
        ring.push("abcd");
        assert_eq!((ring.text().as_str(), ring.dropped()), ("abcd", 0));
        ring.push("e");
        assert_eq!((ring.text().as_str(), ring.dropped()), ("bcde", 1));
        ring.push("123456789");
        assert_eq!((ring.text().as_str(), ring.dropped()), ("6789", 10));
        assert_eq!(ring.since(12), "89");
        assert_eq!(ring.since(99), "");
    }

    #[test]
    fn a_cut_shows_no_half_character() {
        let mut ring = Ring::new(4);
        ring.push("aéé");
        assert_eq!(ring.text(), "éé");
        ring.push("x");
        assert_eq!(ring.text(), "éx");
    }

    #[test]
    fn line_ends_are_one_character_also_across_pieces() {
        let mut ring = Ring::new(100);
        for piece in ["a\r\nb\r", "\nc\r", "d\r", "", "\r\n", "e\r"] {
            ring.push(piece);
        }
        assert_eq!(ring.text(), "a\nb\nc\rd\r\ne");
    }
}
