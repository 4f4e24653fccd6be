//! Where a text of Rust uses a name: in code, and in the braces of a format string. Comments and other strings
//! are no uses. It knows no server.

/// What a scan is in.
enum Piece {
    Code,
    Comment,
    /// A string; its braces may hold names.
    Text,
}

/// Returns the byte offsets at which a name is used.
pub(super) fn uses_in(text: &str, name: &str) -> Vec<usize> {
    let mut uses = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (piece, length) = piece_at(text, at);
        let part = &text[at..at + length];
        let hits = part.match_indices(name).map(|(hit, _)| at + hit);
        uses.extend(hits.filter(|&hit| match piece {
            Piece::Code => is_whole(text, hit, name.len()),
            Piece::Comment => false,
            Piece::Text => is_whole(text, hit, name.len()) && is_in_braces(text, hit, name.len()),
        }));
        at += length;
    }
    uses
}

/// Whether a character may be part of a name of Rust.
fn is_identifier(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// Whether nothing that continues a name stands beside it; `$name` is a parameter of a macro.
fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + length..].chars().next();
    !before.is_some_and(|ch| is_identifier(ch) || ch == '$') && !after.is_some_and(is_identifier)
}

/// Whether a name in a string is an argument of a format: `{name}`, `{name:?}`, `{0:name$}`.
fn is_in_braces(text: &str, at: usize, length: usize) -> bool {
    // Two braces are one that is written.
    let braces = text[..at].bytes().rev().take_while(|byte| *byte == b'{');
    let is_open = braces.count() % 2 == 1;
    let after = text[at + length..].trim_start().chars().next();
    (is_open && matches!(after, Some('}' | ':'))) || after == Some('$')
}

/// Returns what begins at an offset, and its length, which is never zero.
fn piece_at(text: &str, at: usize) -> (Piece, usize) {
    let rest = &text[at..];
    let first = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with("//") {
        return (Piece::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Piece::Comment, block_comment(rest));
    }
    if let Some(content) = rest.strip_prefix('"') {
        return (Piece::Text, 1 + string(content));
    }
    if rest.starts_with('\'') {
        return (Piece::Code, character(rest));
    }
    if !rest.starts_with(is_identifier) {
        return (Piece::Code, first);
    }
    let word = rest.find(|ch| !is_identifier(ch)).unwrap_or(rest.len());
    let after = &rest[word..];
    if rest[..word].ends_with('r')
        && word <= 2
        && let Some(quote) = after
            .find('"')
            .filter(|&quote| after[..quote].bytes().all(|it| it == b'#'))
    {
        let end = format!("\"{}", &after[..quote]);
        let content = &after[quote + 1..];
        let length = content
            .find(&end)
            .map_or(content.len(), |it| it + end.len());
        return (Piece::Text, word + quote + 1 + length);
    }
    (Piece::Code, word)
}

/// The length of a block comment, which may have others in it.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of a string behind its quotation mark, with the one that ends it.
fn string(content: &str) -> usize {
    let mut is_escaped = false;
    for (at, ch) in content.char_indices() {
        match (is_escaped, ch) {
            (true, _) => is_escaped = false,
            (false, '\\') => is_escaped = true,
            (false, '"') => return at + 1,
            (false, _) => {}
        }
    }
    content.len()
}

/// The length of a character, or of the mark of a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((after, ch))) => {
            let from = after + ch.len_utf8();
            rest[from..].find('\'').map_or(1, |end| from + end + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let uses = uses_in(text, "total");
        uses.iter().map(|&at| text[..at].lines().count()).collect()
    }

    #[test]
    fn code_and_the_arguments_of_formats_are_uses_and_comments_and_texts_are_none() {
        for (text, n_uses) in [
            ("total(1) + demo::total + r#total", 3),
            ("totals my_total total2 étotal $total", 0),
            ("// total\ntotal", 1),
            ("/* total /* total */ total */ total", 1),
            ("\"total\" \"a \\\" total\" total", 1),
            ("\"{total} {total:?} {0:total$} {{total}} {{ total }}\"", 3),
            ("r#\"total \" total\"# r\"total\" br\"total\" total", 1),
            ("'\"' total '\\'' total '\\u{e9}' total 'é' total", 4),
            ("fn f<'total>(x: &'total str) {}", 2),
            ("println!(\"{}\", demo::total(&[1]))", 1),
            ("\"total", 0),
            ("/* total", 0),
            ("'", 0),
            ("", 0),
        ] {
            assert_eq!(uses_in(text, "total").len(), n_uses, "{text}");
        }
        assert_eq!(lines("a\n// total\nb total\n"), [3]);
    }
}
