//! The layout of a run in its new place (D16): templates are written on one line, code mostly is not.

use std::ops::Range;

use super::{Adapted, Writer};
use crate::syntax::matcher::Capture;

/// The brackets between which a run may keep the white space around it.
const BRACKETS: &[(u8, u8)] = &[(b'(', b')'), (b'[', b']'), (b'{', b'}')];

impl Writer<'_> {
    /// The run with the white space around it, and a separator after it, up to the brackets that it
    /// stands in, where it has several lines of its own in them and the template puts it in the same ones.
    pub(super) fn run_in_brackets(
        &self,
        planned: usize,
        capture: Capture,
        written: &[u8],
        next: Option<&Adapted>,
    ) -> Option<Range<u32>> {
        let found = &self.planned[planned].found.range;
        let (start, end) = (capture.bytes.0 as usize, capture.bytes.1 as usize);
        // A run of one line stands well in the template's line.
        memchr::memchr(b'\n', self.source.get(start..end)?)?;
        let before = self.source.get(found.start as usize..start)?;
        let head = before.trim_ascii_end();
        let open = *head.last()?;
        let (_, close) = BRACKETS.iter().find(|b| b.0 == open)?;
        if !before[head.len()..].contains(&b'\n') || !trimmed(written).ends_with(&[open]) {
            return None;
        }
        let Some(Adapted::Text(lines)) = next else {
            return None;
        };
        if !lines[0].trim_start().as_bytes().starts_with(&[*close]) {
            return None;
        }
        let after = self.source.get(end..found.end as usize)?;
        let mut tail = after.trim_ascii_start();
        let separators = self.template.separators.iter();
        if let Some(rest) = separators
            .filter_map(|s| tail.strip_prefix(s.as_bytes()))
            .next()
        {
            tail = rest.trim_ascii_start();
        }
        tail.starts_with(&[*close])
            .then(|| (found.start as usize + head.len()) as u32..found.end - tail.len() as u32)
    }

    /// The indentation that the lines of a run are counted from, where its first line moves into the
    /// middle of another one: that of the match, so that those after it stay further in.
    pub(super) fn run_indent(
        &self,
        capture: Capture,
        of_match: &str,
        of_capture: &str,
        written: &[u8],
    ) -> Option<String> {
        let several = self.flat.node(capture.nodes.0).next < capture.nodes.1;
        let begins_line = |text: &[u8]| matches!(trimmed(text).last(), None | Some(b'\n'));
        let moves_in =
            begins_line(&self.source[..capture.bytes.0 as usize]) && !begins_line(written);
        (several && moves_in && of_capture.starts_with(of_match)).then(|| of_match.to_owned())
    }
}

/// Without the blanks at the end; line ends stay.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let n_blank = text
        .iter()
        .rev()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    &text[..text.len() - n_blank]
}
