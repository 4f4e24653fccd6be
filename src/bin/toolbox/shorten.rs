//! Shorter forms of a search's answer: fewer lines of each match, counts, names of files.

use std::collections::BTreeMap;

use serde_json::Value;

/// Keeps the first `max_lines` lines of each match of a text answer, and says how many are left out.
pub(crate) fn lines(text: &str, data: &Value, max_lines: usize) -> String {
    let mut places: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for found in data["matches"].as_array().into_iter().flatten() {
        let number = |key: &str| found[key].as_u64().unwrap_or_default();
        let file = found["file"].as_str().unwrap_or_default();
        let place = (number("line"), number("end_line"));
        places.entry(file).or_default().push(place);
    }
    let mut shortened = String::with_capacity(text.len());
    let mut in_file: &[(u64, u64)] = &[];
    let mut n_left_out = 0;
    for line in text.lines() {
        let matched = line.split_once(':').and_then(|(n, _)| n.parse().ok());
        if let Some(number) = matched.filter(|_| !in_file.is_empty()) {
            let shown = in_file.iter().any(|(first, last)| {
                (*first..=*last).contains(&number) && number - first < max_lines as u64
            });
            if !shown {
                n_left_out += 1;
                continue;
            }
        } else if let Some(n) = left_out(line)
            && n_left_out > 0
        {
            // The tool has cut this match too.
            n_left_out += n;
            continue;
        } else if let Some(found) = places.get(line) {
            in_file = found;
        }
        tell(&mut shortened, &mut n_left_out);
        shortened.push_str(line);
        shortened.push('\n');
    }
    tell(&mut shortened, &mut n_left_out);
    shortened.truncate(shortened.trim_end_matches('\n').len());
    shortened
}

fn tell(text: &mut String, n_left_out: &mut usize) {
    match std::mem::take(n_left_out) {
        0 => {}
        1 => text.push_str("  … 1 line more\n"),
        n => text.push_str(&format!("  … {n} lines more\n")),
    }
}

/// The number in `  … 3 lines more`.
fn left_out(line: &str) -> Option<usize> {
    line.strip_prefix("  … ")?.split(' ').next()?.parse().ok()
}

/// How many matches each file has, by name.
pub(crate) fn counts(data: &Value) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for found in data["matches"].as_array().into_iter().flatten() {
        *counts
            .entry(found["file"].as_str().unwrap_or_default())
            .or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn data(places: &[(u64, u64)]) -> Value {
        let row = |(line, end): &(u64, u64)| json!({"file": "a.c", "line": line, "end_line": end});
        json!({ "matches": places.iter().map(row).collect::<Vec<_>>() })
    }

    #[test]
    fn the_first_lines_of_each_match_stay() {
        let text = "a.c\n0-x\n1:f(\n2:1,\n3:2)\n4-y\n7:g()\n\n2 matches";
        let places = data(&[(1, 3), (7, 7)]);
        assert_eq!(
            lines(text, &places, 1),
            "a.c\n0-x\n1:f(\n  … 2 lines more\n4-y\n7:g()\n\n2 matches"
        );
        assert_eq!(
            lines(text, &places, 2),
            "a.c\n0-x\n1:f(\n2:1,\n  … 1 line more\n4-y\n7:g()\n\n2 matches"
        );
        assert_eq!(lines(text, &places, 3), text);
    }

    #[test]
    fn nested_matches_and_cut_ones_add_up() {
        let text = "a.c\n1:a\n2:b\n3:c\n  … 5 lines more\n\n2 matches";
        assert_eq!(
            lines(text, &data(&[(1, 8), (3, 3)]), 1),
            "a.c\n1:a\n  … 1 line more\n3:c\n  … 5 lines more\n\n2 matches"
        );
        assert_eq!(
            lines(text, &data(&[(1, 8)]), 1),
            "a.c\n1:a\n  … 7 lines more\n\n2 matches"
        );
    }
}
