//! Colours for people: file names, line numbers, the matched part of a line, the lines of a diff.
//!
//! The text of an answer stays the one that its report prints; colour is laid over it line by line, so the
//! two cannot drift.

use std::collections::BTreeMap;
use std::ops::Range;

use toolbox::tool::Output;

const FILE: &str = "\x1b[35m";
const NUMBER: &str = "\x1b[32m";
const MATCH: &str = "\x1b[1;31m";
const REMOVED: &str = "\x1b[31m";
const ADDED: &str = "\x1b[32m";
const HUNK: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// Where a match lies, as the data of the answer says it.
struct Place<'a> {
    line: u64,
    end_line: u64,
    column: usize,
    text: &'a str,
}

/// Paints the answer of `ast_grep`.
pub(crate) fn matches(output: &Output) -> String {
    let mut places: BTreeMap<&str, Vec<Place<'_>>> = BTreeMap::new();
    for found in output.data["matches"].as_array().into_iter().flatten() {
        let place = Place {
            line: found["line"].as_u64().unwrap_or_default(),
            end_line: found["end_line"].as_u64().unwrap_or_default(),
            column: found["column"].as_u64().unwrap_or(1) as usize,
            text: found["text"].as_str().unwrap_or_default(),
        };
        let file = found["file"].as_str().unwrap_or_default();
        places.entry(file).or_default().push(place);
    }
    let mut painted = String::with_capacity(output.text.len() * 2);
    let mut in_file: &[Place<'_>] = &[];
    for line in output.text.lines() {
        match numbered(line) {
            Some((number, mark, text)) if !in_file.is_empty() => {
                painted.push_str(&format!("{NUMBER}{number}{RESET}{mark}"));
                painted.push_str(&highlighted(text, number, in_file));
            }
            _ => {
                in_file = places.get(line).map_or(&[], Vec::as_slice);
                match in_file.is_empty() {
                    true => painted.push_str(line),
                    false => painted.push_str(&format!("{FILE}{line}{RESET}")),
                }
            }
        }
        painted.push('\n');
    }
    painted
}

/// Paints the lines of a unified diff; what stands before it is left as it is.
pub(crate) fn diff(text: &str) -> String {
    let mut painted = String::with_capacity(text.len() * 2);
    let mut in_diff = false;
    for line in text.lines() {
        in_diff |= line.starts_with("--- ");
        let color = match line.as_bytes() {
            _ if !in_diff => "",
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => BOLD,
            [b'-', ..] => REMOVED,
            [b'+', ..] => ADDED,
            [b'@', b'@', ..] => HUNK,
            _ => "",
        };
        match color.is_empty() {
            true => painted.push_str(line),
            false => painted.push_str(&format!("{color}{line}{RESET}")),
        }
        painted.push('\n');
    }
    painted
}

/// Splits `12:text` (a matched line) or `12-text` (context).
fn numbered(line: &str) -> Option<(u64, char, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = line[digits..]
        .chars()
        .next()
        .filter(|mark| ":-".contains(*mark))?;
    Some((line[..digits].parse().ok()?, mark, &line[digits + 1..]))
}

/// Paints the parts of a shown line that belong to matches.
fn highlighted(text: &str, number: u64, places: &[Place<'_>]) -> String {
    let mut ranges: Vec<Range<usize>> = places
        .iter()
        .filter(|place| (place.line..=place.end_line).contains(&number))
        .filter_map(|place| matched_part(text, number, place))
        .collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut painted = String::new();
    let mut at = 0;
    for range in ranges {
        let start = range.start.max(at);
        if start >= range.end {
            continue;
        }
        painted.push_str(&text[at..start]);
        painted.push_str(&format!("{MATCH}{}{RESET}", &text[start..range.end]));
        at = range.end;
    }
    painted.push_str(&text[at..]);
    painted
}

/// Finds the part of a shown line that a match covers; a long line is shown clipped, so the place is looked
/// for by the text.
fn matched_part(text: &str, number: u64, place: &Place<'_>) -> Option<Range<usize>> {
    let nth = usize::try_from(number - place.line).ok()?;
    let part = place.text.lines().nth(nth)?.trim_end();
    if nth > 0 {
        let part = part.trim_start();
        let start = text.find(part)?;
        return Some(start..start + part.len());
    }
    let expected = text
        .char_indices()
        .nth(place.column - 1)
        .map(|(at, _)| at)
        .filter(|at| text[*at..].starts_with(part));
    let start = expected.or_else(|| text.find(part))?;
    Some(start..start + part.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn output(text: &str, matches: Value) -> Output {
        Output {
            text: text.to_owned(),
            data: json!({ "matches": matches }),
            images: Vec::new(),
        }
    }

    #[test]
    fn the_matched_part_is_painted_where_the_data_says() {
        let output = output(
            "a.js\n3:f(f(1)) f(1)\n4-f(1)\n\n1 match",
            json!([
                {"file": "a.js", "line": 3, "end_line": 3, "column": 9, "text": "f(1)"},
            ]),
        );
        assert_eq!(
            matches(&output),
            "\x1b[35ma.js\x1b[0m\n\x1b[32m3\x1b[0m:f(f(1)) \x1b[1;31mf(1)\x1b[0m\n\
             \x1b[32m4\x1b[0m-f(1)\n\n1 match\n"
        );
    }

    #[test]
    fn a_clipped_line_and_odd_lines_are_left_readable() {
        let clipped = output(
            "a.js\n1:…xx f(ä) …\n\n1 match",
            json!([{"file": "a.js", "line": 1, "end_line": 1, "column": 400, "text": "f(ä)"}]),
        );
        assert!(matches(&clipped).contains("…xx \x1b[1;31mf(ä)\x1b[0m …"));
        let odd = output("99999999999999999999999:x\n12", json!([]));
        assert_eq!(matches(&odd), "99999999999999999999999:x\n12\n");
    }

    #[test]
    fn a_diff_is_painted_and_its_preface_is_not() {
        let painted = diff("- not yet\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n c");
        assert_eq!(
            painted,
            "- not yet\n\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\
             \x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n c\n"
        );
    }
}
