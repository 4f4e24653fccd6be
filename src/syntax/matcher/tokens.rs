//! The token texts of a capture, which is what two captures of one name must agree in (D8).

use crate::syntax::grammar::flag;
use crate::syntax::matcher::Capture;
use crate::syntax::tree::Flat;

/// The leaves of a capture, string literals counting as leaves.
pub(super) struct Tokens<'a> {
    flat: &'a Flat,
    at: u32,
    end: u32,
}

impl<'a> Tokens<'a> {
    pub fn new(flat: &'a Flat, capture: Capture) -> Self {
        Tokens {
            flat,
            at: capture.nodes.0,
            end: capture.nodes.1,
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.at < self.end {
            let idx = self.at;
            let node = self.flat.node(idx);
            if node.flags() & flag::STRING != 0 || node.next == idx + 1 {
                self.at = node.next;
                return Some(idx);
            }
            self.at += 1;
        }
        None
    }
}
