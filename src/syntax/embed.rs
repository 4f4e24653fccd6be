//! Code of one language inside files of another: scripts and styles in HTML.

use std::ops::Range;

use crate::syntax::grammar::Grammar;
use crate::syntax::languages::Language;
use crate::syntax::split::Excerpt;
use crate::syntax::tree::Flat;

/// Whether files of `host` hold code of `guest`.
pub(crate) fn hosts(host: &Language, guest: &Language) -> bool {
    host.id == "html" && matches!(guest.id, "javascript" | "css" | "typescript" | "json")
}

/// Parses the embedded code of a file, of which each script is a text of its own.
pub(crate) fn parse(host: &Grammar, guest: &Grammar, source: &[u8]) -> Option<Flat> {
    let tree = host.parse(source)?;
    let excerpt = Excerpt::of_texts(source, &ranges(&tree, guest.row, source));
    let tree = guest.parse_as_is(excerpt.text())?;
    Some(Flat::of_excerpt(guest, &tree, source, &excerpt))
}

/// Where the code of `guest` stands in an HTML tree.
fn ranges(tree: &tree_sitter::Tree, guest: &Language, source: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let language = match node.kind() {
            "script_element" => Some(script_language(&node, source)),
            "style_element" => Some("css"),
            _ => None,
        };
        if language == Some(guest.id) {
            let mut children = node.walk();
            for child in node.children(&mut children) {
                if child.kind() == "raw_text" && !child.byte_range().is_empty() {
                    ranges.push(child.byte_range());
                }
            }
        }
        if language.is_none() && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return ranges;
            }
        }
    }
}

/// The language that a script element's `type` or `lang` names.
fn script_language(element: &tree_sitter::Node<'_>, source: &[u8]) -> &'static str {
    let tag = element
        .child(0)
        .map(|tag| String::from_utf8_lossy(&source[tag.byte_range()]).to_lowercase())
        .unwrap_or_default();
    if tag.contains("typescript") || tag.contains("lang=\"ts\"") || tag.contains("lang='ts'") {
        "typescript"
    } else if tag.contains("json") || tag.contains("importmap") {
        "json"
    } else if tag.contains("type=") && !tag.contains("javascript") && !tag.contains("module") {
        "none"
    } else {
        "javascript"
    }
}
