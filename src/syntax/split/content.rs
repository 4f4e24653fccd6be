//! Tells where the code of a body begins and ends, by its tokens.

use std::ops::Range;

use super::lexer::{Dialect, Kind, Lexer};
use super::python;

/// What stands in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Blanks and comments only.
    Empty,
    /// From the first to the last token.
    Tokens(Range<usize>),
    /// The lexer is not sure.
    Unclear,
}

/// Reads what stands between two braces of a source that a splitter has cut, or, in Python, in some lines.
pub fn content(language: &str, source: &[u8], inner: Range<usize>) -> Content {
    if language == "python" {
        return match python::tokens(source, inner) {
            Some(Some(range)) => Content::Tokens(range),
            Some(None) => Content::Empty,
            None => Content::Unclear,
        };
    }
    let dialect = match language {
        "rust" => Dialect::Rust,
        "dart" => Dialect::Dart,
        "java" => Dialect::Java,
        "go" => Dialect::Go,
        "c" => Dialect::C,
        "typescript" => Dialect::TypeScript,
        "tsx" | "javascript" | "jsx" => Dialect::Jsx,
        _ => return Content::Unclear,
    };
    tokens(source, inner, dialect).unwrap_or(Content::Unclear)
}

fn tokens(source: &[u8], inner: Range<usize>, dialect: Dialect) -> Option<Content> {
    let mut lexer = Lexer::within(source, inner, dialect);
    let mut first: Option<usize> = None;
    let mut end = 0;
    loop {
        let token = lexer.next()?;
        match token.kind {
            Kind::End if lexer.depth() > 0 => return None,
            Kind::End => break,
            // The node of a directive may reach over its line end.
            Kind::Directive => return None,
            _ => {}
        }
        first.get_or_insert(token.start);
        end = token.end;
    }
    Some(match first {
        None => Content::Empty,
        Some(start) => Content::Tokens(start..end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: &str, source: &str, expected: Option<&str>) {
        let inner = source.find('{').map_or(0, |at| at + 1)..source.rfind('}').unwrap_or(0);
        let text = match content(language, source.as_bytes(), inner) {
            Content::Empty => Some(""),
            Content::Tokens(range) => Some(&source[range]),
            Content::Unclear => None,
        };
        assert_eq!(text, expected, "{language}: {source}");
    }

    #[test]
    fn lines_of_python_end_with_their_last_token() {
        for (lines, expected) in [
            ("    # a\n    b  # c\n    # d\n", Some("b")),
            ("  if x:\n    '# y'  # z\n\n", Some("if x:\n    '# y'")),
            ("  f(\n    a,  # b\n  )\n", Some("f(\n    a,  # b\n  )")),
            ("  a \\\n    + b", Some("a \\\n    + b")),
            ("  a; b;  # c\n", Some("a; b;")),
            ("  # a\n\n", Some("")),
            ("  'a\n", None),
        ] {
            let text = match content("python", lines.as_bytes(), 0..lines.len()) {
                Content::Empty => Some(""),
                Content::Tokens(range) => Some(&lines[range]),
                Content::Unclear => None,
            };
            assert_eq!(text, expected, "{lines}");
        }
    }

    #[test]
    fn comments_and_blanks_at_the_edges_are_no_content() {
        check("rust", "fn f() { /* a */ b(); // c\n }", Some("b();"));
        check("rust", "fn f() { // a\n }", Some(""));
        check("rust", "fn f() { \"// a\" }", Some("\"// a\""));
        check(
            "rust",
            "fn f() { let c = '{'; r#\"}\"# }",
            Some("let c = '{'; r#\"}\"#"),
        );
        check("go", "func f() { `// a` }", Some("`// a`"));
        check("typescript", "f() { `${a} //` }", Some("`${a} //`"));
        check("c", "void f() { a(); /* b */ }", Some("a();"));
        check("c", "void f() { a();\n#if X\n#endif\n }", None);
        check("ruby", "{ a }", None);
    }
}
