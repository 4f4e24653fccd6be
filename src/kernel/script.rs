//! Makes a cell of JavaScript fit for V8's console mode, which knows no modules.
//!
//! Static imports become awaited dynamic ones, and dynamic ones go through a function of the kernel that
//! resolves from the workspace. The grammar finds them exactly: the same words in strings, comments and
//! regular expressions stay. Everything else of the cell is left as it is, line by line, save the word that
//! declares a name which an earlier cell declared in a way that V8 does not let change.

mod names;

use tree_sitter::{Node, Parser};

pub(crate) use crate::kernel::script::names::Names;

/// A cell as the kernel runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) code: String,
    /// Whether its value is shown: the last statement is an expression.
    pub(crate) echo: bool,
    /// What the cell declares at its top.
    pub(crate) names: Names,
}

/// The kernel's stand-ins for `import(...)` and `import.meta`.
const IMPORT: &str = "__toolbox_import";
const META: &str = "__toolbox_meta";

/// Deeper nesting than any real cell has is left to V8, which says what is wrong with it.
const MAX_DEPTH: usize = 1_000;

impl Script {
    /// Reads a cell; `known` are the names of the cells before it.
    pub(crate) fn of(code: &str, known: &Names) -> Self {
        let as_is = Self {
            code: code.to_owned(),
            echo: true,
            names: Names::default(),
        };
        let mut parser = Parser::new();
        if parser
            .set_language(&tree_sitter_javascript::LANGUAGE.into())
            .is_err()
        {
            return as_is;
        }
        let Some(tree) = parser.parse(code, None) else {
            return as_is;
        };
        let root = tree.root_node();
        let mut edits = Vec::new();
        collect(root, code, &mut edits, 0);
        let names = names::declare(root, code, known, &mut edits);
        Self {
            code: apply(code, edits),
            echo: echoes(root, code),
            names,
        }
    }
}

/// A replacement of a range of bytes.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Tells whether the last statement is an expression; so does what the grammar cannot read, where V8 has
/// the last word.
fn echoes(root: Node<'_>, code: &str) -> bool {
    let mut cursor = root.walk();
    let last = root
        .named_children(&mut cursor)
        .filter(|node| {
            !matches!(
                node.kind(),
                "comment" | "hash_bang_line" | "empty_statement"
            )
        })
        .last();
    match last {
        None => false,
        Some(node) if node.kind() == "export_statement" => code[node.byte_range()]
            .strip_prefix("export")
            .is_some_and(|rest| {
                rest.trim_start().starts_with("default") && declaration(node).is_none()
            }),
        Some(node) => node.kind() == "expression_statement" || node.is_error(),
    }
}

fn collect(node: Node<'_>, code: &str, edits: &mut Vec<Edit>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let edit = match node.kind() {
        "import_statement" => static_import(node, code),
        "export_statement"
            if node
                .parent()
                .is_some_and(|parent| parent.kind() == "program") =>
        {
            export(node, edits)
        }
        "import" if !node.has_error() => dynamic_import(node),
        "meta_property" if code[node.byte_range()].starts_with("import") => Some(META.to_owned()),
        _ => None,
    };
    if let Some(text) = edit {
        edits.push(Edit {
            start: node.start_byte(),
            end: node.end_byte(),
            text: keep_lines(text, &code[node.byte_range()]),
        });
        return;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, code, edits, depth + 1);
    }
}

/// The word `import` where it is called.
fn dynamic_import(node: Node<'_>) -> Option<String> {
    let parent = node.parent()?;
    (parent.kind() == "call_expression").then(|| IMPORT.to_owned())
}

fn static_import(node: Node<'_>, code: &str) -> Option<String> {
    let source = &code[node.child_by_field_name("source")?.byte_range()];
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    let attributes = children
        .iter()
        .find(|child| child.kind() == "import_attribute")
        .and_then(|child| {
            code[child.byte_range()]
                .find('{')
                .map(|at| child.start_byte() + at..child.end_byte())
        })
        .map(|range| format!(", {{ with: {} }}", &code[range]))
        .unwrap_or_default();
    let module = format!("await {IMPORT}({source}{attributes})");
    let Some(clause) = children
        .iter()
        .find(|child| child.kind() == "import_clause")
    else {
        return Some(format!("void ({module});"));
    };
    let mut names = Vec::new();
    let mut namespace = None;
    let mut cursor = clause.walk();
    for part in clause.named_children(&mut cursor) {
        match part.kind() {
            "identifier" => names.push(format!("default: {}", &code[part.byte_range()])),
            "namespace_import" => {
                let name = part.named_child(0)?;
                namespace = Some(code[name.byte_range()].to_owned());
            }
            "named_imports" => {
                let mut cursor = part.walk();
                for specifier in part.named_children(&mut cursor) {
                    if specifier.kind() != "import_specifier" {
                        continue;
                    }
                    let name = &code[specifier.child_by_field_name("name")?.byte_range()];
                    names.push(match specifier.child_by_field_name("alias") {
                        Some(alias) => format!("{name}: {}", &code[alias.byte_range()]),
                        None => name.to_owned(),
                    });
                }
            }
            _ => {}
        }
    }
    let list = names.join(", ");
    Some(match namespace {
        Some(name) if names.is_empty() => format!("const {name} = {module};"),
        Some(name) => format!("const {name} = {module}, {{ {list} }} = {name};"),
        None => format!("const {{ {list} }} = {module};"),
    })
}

fn declaration(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("declaration")
}

/// A cell exports nothing: of an export the declaration or the value stays.
fn export(node: Node<'_>, edits: &mut Vec<Edit>) -> Option<String> {
    if let Some(inner) = declaration(node).or_else(|| node.child_by_field_name("value")) {
        edits.push(Edit {
            start: node.start_byte(),
            end: inner.start_byte(),
            text: String::new(),
        });
        return None;
    }
    Some(String::new())
}

/// Keeps the number of lines, so that places in errors stay right.
fn keep_lines(mut text: String, before: &str) -> String {
    let missing = before
        .matches('\n')
        .count()
        .saturating_sub(text.matches('\n').count());
    text.extend(std::iter::repeat_n('\n', missing));
    text
}

fn apply(code: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut out = String::with_capacity(code.len() + 64);
    let mut at = 0;
    for edit in edits {
        if edit.start < at {
            continue;
        }
        out.push_str(&code[at..edit.start]);
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(&code[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expected: &str, echo: bool) {
        let script = Script::of(code, &Names::default());
        assert_eq!(
            (script.code.as_str(), script.echo),
            (expected, echo),
            "{code}"
        );
    }

    #[test]
    fn imports_become_awaited_calls() {
        check(
            "import 'a';\n1",
            "void (await __toolbox_import('a'));\n1",
            true,
        );
        check(
            "import d from 'a'",
            "const { default: d } = await __toolbox_import('a');",
            false,
        );
        check(
            "import * as n from \"a\";",
            "const n = await __toolbox_import(\"a\");",
            false,
        );
        check(
            "import d, { x, y as z } from 'a';",
            "const { default: d, x, y: z } = await __toolbox_import('a');",
            false,
        );
        check(
            "import d, * as n from 'a';",
            "const n = await __toolbox_import('a'), { default: d } = n;",
            false,
        );
        check(
            "import {\n  x,\n} from 'a';\nx",
            "const { x } = await __toolbox_import('a');\n\n\nx",
            true,
        );
        check(
            "import j from './a.json' with { type: 'json' };",
            "const { default: j } = await __toolbox_import('./a.json', { with: { type: 'json' } });",
            false,
        );
        check(
            "const m = await import('a');",
            "const m = await __toolbox_import('a');",
            false,
        );
        check("import.meta.url", "__toolbox_meta.url", true);
    }

    #[test]
    fn the_word_in_other_places_stays() {
        for code in [
            "const s = \"import x from 'y'\";",
            "// import x from 'y'\nvar a;",
            "var t = `import('a')`;",
            "o.import('a');",
            "/import('a')/;",
        ] {
            assert_eq!(Script::of(code, &Names::default()).code, code);
        }
    }

    #[test]
    fn exports_lose_the_word() {
        check("export const x = 1;", "const x = 1;", false);
        check("export default class A {}", "class A {}", false);
        check("export default 4;", "4;", true);
        check("export { x };", "", false);
    }

    #[test]
    fn the_value_is_shown_of_an_expression_alone() {
        for (code, echo) in [
            ("1 + 1", true),
            ("x = 5; // set\n", true),
            ("if (a) 7", false),
            ("class A {}", false),
            ("const x = 1", false),
            ("{ let q = 1 }", false),
            ("", false),
        ] {
            assert_eq!(Script::of(code, &Names::default()).echo, echo, "{code}");
        }
    }
}
