//! Lines with a limit.
//!
//! A line that is too long costs no more memory than the limit: what fits is kept, so that the id of the
//! request can be quoted, and the rest is passed over. This module knows nothing of what a line says.

use std::io::{self, BufRead};

/// One line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line within the limit.
    Whole(Vec<u8>),
    /// The beginning of a line over the limit.
    TooLong(Vec<u8>),
}

/// Reads the next line; `None` at the end of input. The last line needs no line end.
pub(crate) fn next_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long = false;
    let mut anything = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => return Err(err),
        };
        if available.is_empty() {
            break;
        }
        anything = true;
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        let room = limit - line.len();
        line.extend_from_slice(&part[..part.len().min(room)]);
        too_long |= part.len() > room;
        let used = end.map_or(available.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (anything, too_long) {
        (false, _) => None,
        (true, false) => Some(Line::Whole(line)),
        (true, true) => Some(Line::TooLong(line)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn lines(text: &str, limit: usize) -> Vec<Line> {
        // A small buffer, so that lines come in several pieces.
        let mut input = BufReader::with_capacity(3, text.as_bytes());
        std::iter::from_fn(|| next_line(&mut input, limit).expect("memory reads well")).collect()
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_end_at_line_ends_and_at_the_end_of_input() {
        assert_eq!(lines("", 9), []);
        assert_eq!(
            lines("ab\n\ncdef", 9),
            [whole("ab"), whole(""), whole("cdef")]
        );
        assert_eq!(lines("ab\n", 9), [whole("ab")]);
    }

    #[test]
    fn a_line_over_the_limit_is_cut_and_the_next_one_is_whole() {
        assert_eq!(
            lines("12345\n123456\nab\n", 5),
            [
                whole("12345"),
                Line::TooLong(b"12345".to_vec()),
                whole("ab"),
            ]
        );
        assert_eq!(lines("123456", 5), [Line::TooLong(b"12345".to_vec())]);
    }
}
