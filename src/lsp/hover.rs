//! What a server knows about a symbol: the signature and the documentation comment (R23).
//!
//! Servers mix both into one text. The code of it is the signature, wherever the server puts it; the rest
//! is the documentation.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::navigate::tell_incomplete;
use crate::lsp::question::{AskError, Gap, Spot};
use crate::lsp::supervisor::Supervisor;

/// What is known of a symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HoverReport {
    #[serde(skip)]
    symbol: String,
    /// The code of the declaration; nothing where the server knows none.
    pub signature: Option<String>,
    /// The documentation comment; nothing where there is none.
    pub documentation: Option<String>,
    /// Why the answer may miss something, if it may.
    pub incomplete: Option<Gap>,
    /// The server that answered.
    pub server: String,
}

/// Asks what a symbol is.
pub fn hover(
    supervisor: &Supervisor,
    spot: Spot<'_>,
    cancel: &Cancel,
) -> Result<HoverReport, AskError> {
    supervisor.check_spot(spot)?;
    let opened = supervisor.open(spot.path, cancel)?;
    let method = "textDocument/hover";
    opened.needs("hoverProvider", method, "hover")?;
    let target = supervisor.locate(&opened, spot)?;
    let deadline = supervisor.request_deadline(&opened);
    let answer = opened
        .server
        .query(method, opened.at(target), deadline, cancel)?;
    let (signature, documentation) = split(&answer["contents"]);
    Ok(HoverReport {
        symbol: opened.name(target),
        signature,
        documentation,
        incomplete: opened.incomplete(),
        server: opened.server.id().to_owned(),
    })
}

/// Splits `MarkupContent`, `MarkedString` or a list of those.
fn split(contents: &Value) -> (Option<String>, Option<String>) {
    let mut blocks = Vec::new();
    read(contents, &mut blocks);
    let is_code = |block: &Block| matches!(block, Block::Code(_));
    let n_leading = blocks.iter().take_while(|block| is_code(block)).count();
    // clangd puts the declaration last, behind a heading and the comment; elsewhere the code that comes
    // later is an example.
    let has_heading = matches!(blocks.first(), Some(Block::Text(text)) if text.starts_with('#'));
    let signature: Vec<usize> = match (n_leading, blocks.iter().rposition(is_code)) {
        (0, Some(last)) if has_heading && last + 1 == blocks.len() => vec![last],
        (n_leading, _) => (0..n_leading).collect(),
    };
    let mut code = Vec::new();
    let mut text = Vec::new();
    let has_code = blocks.iter().any(is_code);
    for (n, block) in blocks.into_iter().enumerate() {
        match block {
            Block::Code(block) if signature.contains(&n) => code.push(block),
            Block::Code(block) => text.push(format!("```\n{block}\n```")),
            Block::Text(block) => text.push(block),
        }
    }
    let mut text = text.join("\n\n");
    if !has_code && !text.is_empty() {
        // Plain text: the first paragraph is the declaration.
        let (first, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        code.push(first.trim().to_owned());
        text = rest.trim().to_owned();
    }
    (cut(code.join("\n")), cut(text))
}

/// A piece of a text.
enum Block {
    Code(String),
    Text(String),
}

fn read(contents: &Value, blocks: &mut Vec<Block>) {
    match contents {
        Value::Array(parts) => parts.iter().for_each(|part| read(part, blocks)),
        Value::String(text) => read_markdown(text, blocks),
        Value::Object(part) => {
            let text = part
                .get("value")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if part.contains_key("language") {
                blocks.push(Block::Code(text.trim().to_owned()));
            } else {
                read_markdown(text, blocks);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes a text apart at its fences; rules between the parts are dropped.
fn read_markdown(text: &str, blocks: &mut Vec<Block>) {
    let mut code: Option<String> = None;
    let mut prose = String::new();
    let flush = |prose: &mut String, blocks: &mut Vec<Block>| {
        let text = prose.trim();
        if !text.is_empty() {
            blocks.push(Block::Text(text.to_owned()));
        }
        prose.clear();
    };
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match &mut code {
            None if is_fence => {
                flush(&mut prose, blocks);
                code = Some(String::new());
            }
            Some(inside) if is_fence => {
                let inside = inside.trim_matches('\n').to_owned();
                if !inside.is_empty() {
                    blocks.push(Block::Code(inside));
                }
                code = None;
            }
            Some(inside) => {
                inside.push_str(line);
                inside.push('\n');
            }
            None if matches!(line.trim(), "---" | "***" | "___") => flush(&mut prose, blocks),
            None => {
                prose.push_str(&plain(&without_pictures(line)));
                prose.push('\n');
            }
        }
    }
    if let Some(inside) = code {
        blocks.push(Block::Code(inside.trim_matches('\n').to_owned()));
    }
    flush(&mut prose, blocks);
}

/// Leaves out pictures that are written out in the text itself: nobody can read those.
fn without_pictures(line: &str) -> Cow<'_, str> {
    const DATA: &str = "](data:";
    let mut kept = String::new();
    let mut rest = line;
    while let Some(data) = rest.find(DATA) {
        let (Some(start), Some(end)) = (rest[..data].rfind("!["), rest[data..].find(')')) else {
            break;
        };
        kept.push_str(&rest[..start]);
        rest = &rest[data + end + 1..];
    }
    match kept.is_empty() && rest.len() == line.len() {
        true => Cow::Borrowed(line),
        false => Cow::Owned(kept + rest.trim_start()),
    }
}

/// Undoes what markdown escapes in prose, outside of code spans: a name in a comment is read as it is
/// written.
fn plain(line: &str) -> String {
    const ENTITIES: [(&str, &str); 5] = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    let mut plain = String::with_capacity(line.len());
    let mut in_code = false;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        in_code ^= first == '`';
        let escaped = after.chars().next().filter(char::is_ascii_punctuation);
        let entity = ENTITIES.iter().find(|(name, _)| rest.starts_with(name));
        match (first, escaped, entity) {
            ('\\', Some(escaped), _) if !in_code => {
                plain.push(escaped);
                rest = &after[1..];
            }
            (_, _, Some((name, text))) if !in_code => {
                plain.push_str(text);
                rest = &rest[name.len()..];
            }
            _ => {
                plain.push(first);
                rest = after;
            }
        }
    }
    plain
}

/// Keeps a bounded text; nothing where it is empty.
fn cut(text: String) -> Option<String> {
    if text.len() <= limits::LSP_HOVER_BYTES {
        return (!text.is_empty()).then_some(text);
    }
    let mut end = limits::LSP_HOVER_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(format!(
        "{}\n… ({} bytes more)",
        &text[..end],
        text.len() - end
    ))
}

impl fmt::Display for HoverReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.signature, &self.documentation) {
            (None, None) => writeln!(f, "nothing is known of '{}'", self.symbol)?,
            (signature, documentation) => {
                if let Some(signature) = signature {
                    writeln!(f, "{signature}")?;
                }
                if let Some(documentation) = documentation {
                    let gap = if signature.is_some() { "\n" } else { "" };
                    writeln!(f, "{gap}{documentation}")?;
                }
            }
        }
        tell_incomplete(f, self.incomplete.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(contents: Value, signature: &str, documentation: &str) {
        let (code, text) = split(&contents);
        assert_eq!(code.as_deref().unwrap_or_default(), signature);
        assert_eq!(text.as_deref().unwrap_or_default(), documentation);
    }

    // R23: the shapes of rust-analyzer, pyright, clangd, older servers and plain text.
    #[test]
    fn signature_and_documentation_are_told_apart() {
        let markdown = |text: &str| json!({"kind": "markdown", "value": text});
        check(
            markdown(
                "```rust\ndemo\n```\n\n```rust\npub fn f() -> u8\n```\n\n---\n\nSays.\n\n```rust\nf();\n```",
            ),
            "demo\npub fn f() -> u8",
            "Says.\n\n```\nf();\n```",
        );
        check(
            markdown("```python\n(function) def f()\n```\n---\nSays."),
            "(function) def f()",
            "Says.",
        );
        check(
            markdown("### function `f`  \n\n---\n→ `int`  \nSays.\n\n---\n```cpp\nint f()\n```"),
            "int f()",
            "### function `f`\n\n→ `int`  \nSays.",
        );
        check(
            json!([{"language": "dart", "value": "void f()"}, "Says."]),
            "void f()",
            "Says.",
        );
        check(json!("int f()\n\nSays."), "int f()", "Says.");
        // An example at the end is no signature.
        check(
            markdown("Says how.\n\n```python\n>>> f()\n```"),
            "",
            "Says how.\n\n```\n>>> f()\n```",
        );
        check(json!(null), "", "");
        check(markdown("```\n```"), "", "");
    }

    // R23: names are read as they are written; code spans, and what is no escape, are left alone.
    #[test]
    fn escapes_of_prose_are_undone() {
        check(
            json!("f\n\n:param name\\_or\\_url: &lt;a&gt;&nbsp;b `\\_&lt;` c\\d é\\"),
            "f",
            ":param name_or_url: <a> b `\\_&lt;` c\\d é\\",
        );
    }

    // R23: a picture in the text is left out, a link and an unfinished one are not.
    #[test]
    fn pictures_in_the_text_are_left_out() {
        check(
            json!(
                "Sets it.\n\n![Icon](data:image/svg+xml;base64,AA==) _Since 2015_ ![b](data:x)end"
            ),
            "Sets it.",
            "_Since 2015_ end",
        );
        check(
            json!("f\n\n[a](https://x) ![b](data:cut"),
            "f",
            "[a](https://x) ![b](data:cut",
        );
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let text = format!("```c\nx\n```\n{}", "é".repeat(limits::LSP_HOVER_BYTES));
        let (_, text) = split(&json!(text));
        let text = text.expect("a text");
        assert!(text.len() < limits::LSP_HOVER_BYTES + 40 && text.contains("bytes more"));
    }
}
