//! Which names cells have declared at their top, and how a later cell may declare them again.
//!
//! V8's console mode lets `let`, `const` and `class` follow each other, and `var` and `function` each other,
//! but not one kind the other: `function f() {}` and then `const f = ...` would be a syntax error. A cell
//! whose declaration is of the other kind gets the word that fits; its text stays line by line.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::{Edit, MAX_DEPTH};

/// The names of cells and their kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names(BTreeMap<String, Kind>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `var` and `function`: properties of the global object.
    Var,
    /// `let`, `const`, `class` and `import`.
    Lexical,
}

impl Names {
    /// Adds the names of a cell that ran.
    pub(crate) fn add(&mut self, cell: Self) {
        self.0.extend(cell.0);
    }

    /// Tells whether one of these names is known as that kind, and none as the other.
    fn all_but_new(&self, names: &[String], kind: Kind) -> bool {
        let mut kinds = names.iter().filter_map(|name| self.0.get(name)).peekable();
        kinds.peek().is_some() && kinds.all(|known| *known == kind)
    }
}

/// Collects what the cell declares and adds the edits that make it fit.
pub(super) fn declare(root: Node<'_>, code: &str, known: &Names, edits: &mut Vec<Edit>) -> Names {
    let mut cell = Cell {
        code,
        known,
        found: Names::default(),
        edits,
    };
    let mut cursor = root.walk();
    for node in root.named_children(&mut cursor) {
        let inner = match node.kind() {
            "export_statement" => node.child_by_field_name("declaration"),
            _ => None,
        };
        cell.top(inner.unwrap_or(node));
    }
    cell.found
}

struct Cell<'a> {
    code: &'a str,
    known: &'a Names,
    found: Names,
    edits: &'a mut Vec<Edit>,
}

impl Cell<'_> {
    fn top(&mut self, node: Node<'_>) {
        match node.kind() {
            "lexical_declaration" => {
                let names = bound(node, self.code);
                let kind = self.variable(node, names.as_slice(), Kind::Lexical, "var");
                self.note(names, kind);
            }
            "class_declaration" => self.named(node, Kind::Lexical, "var"),
            "function_declaration" | "generator_function_declaration" => {
                self.named(node, Kind::Var, "let");
            }
            "import_statement" => self.import(node),
            _ => self.vars(node, 0),
        }
    }

    /// A `var` belongs to the cell however deep it stands, save in a function.
    fn vars(&mut self, node: Node<'_>, depth: usize) {
        if depth > MAX_DEPTH || is_scope(node) {
            return;
        }
        let is_var = match node.kind() {
            "variable_declaration" => true,
            "for_in_statement" => node
                .child_by_field_name("kind")
                .is_some_and(|word| word.kind() == "var"),
            _ => false,
        };
        if is_var {
            let names = match node.child_by_field_name("left") {
                Some(left) => {
                    let mut names = Vec::new();
                    pattern(left, self.code, &mut names, 0);
                    names
                }
                None => bound(node, self.code),
            };
            let kind = self.variable(node, names.as_slice(), Kind::Var, "let");
            self.note(names, kind);
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.vars(child, depth + 1);
        }
    }

    /// Changes the word of a declaration when all that is known of its names is of the other kind.
    fn variable(&mut self, node: Node<'_>, names: &[String], kind: Kind, word: &str) -> Kind {
        let other = kind.other();
        let token = node.child_by_field_name("kind").or_else(|| node.child(0));
        let Some(token) = token.filter(|_| self.known.all_but_new(names, other)) else {
            return kind;
        };
        self.edits.push(Edit {
            start: token.start_byte(),
            end: token.end_byte(),
            text: word.to_owned(),
        });
        other
    }

    /// Makes a function or class the value of a variable when its name is of the other kind.
    fn named(&mut self, node: Node<'_>, kind: Kind, word: &str) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let names = vec![self.code[name.byte_range()].to_owned()];
        if !self.known.all_but_new(&names, kind.other()) {
            self.note(names, kind);
            return;
        }
        let (start, end) = (node.start_byte(), node.end_byte());
        self.edits.push(Edit {
            start,
            end: start,
            text: format!("{word} {} = ", names[0]),
        });
        self.edits.push(Edit {
            start: end,
            end,
            text: ";".to_owned(),
        });
        self.note(names, kind.other());
    }

    fn import(&mut self, node: Node<'_>) {
        let mut names = Vec::new();
        let mut cursor = node.walk();
        for clause in node.named_children(&mut cursor) {
            if clause.kind() == "import_clause" {
                imported(clause, self.code, &mut names);
            }
        }
        let mut kind = Kind::Lexical;
        if self.known.all_but_new(&names, Kind::Var) {
            let start = node.start_byte();
            let edit = self.edits.iter_mut().find(|edit| edit.start == start);
            if let Some(edit) = edit
                && let Some(rest) = edit.text.strip_prefix("const ")
            {
                edit.text = format!("var {rest}");
                kind = Kind::Var;
            }
        }
        self.note(names, kind);
    }

    fn note(&mut self, names: Vec<String>, kind: Kind) {
        self.found
            .0
            .extend(names.into_iter().map(|name| (name, kind)));
    }
}

impl Kind {
    fn other(self) -> Self {
        match self {
            Self::Var => Self::Lexical,
            Self::Lexical => Self::Var,
        }
    }
}

fn is_scope(node: Node<'_>) -> bool {
    node.kind().contains("function")
        || matches!(node.kind(), "method_definition" | "class_static_block")
}

/// The names that the declarators of a declaration bind.
fn bound(node: Node<'_>, code: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut cursor = node.walk();
    for declarator in node.named_children(&mut cursor) {
        if let Some(name) = declarator.child_by_field_name("name") {
            pattern(name, code, &mut names, 0);
        }
    }
    names
}

/// The names of a pattern; a default value and the key of a pair bind nothing.
fn pattern(node: Node<'_>, code: &str, names: &mut Vec<String>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match node.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => {
            names.push(code[node.byte_range()].to_owned());
        }
        "assignment_pattern" | "object_assignment_pattern" => {
            if let Some(left) = node.child_by_field_name("left") {
                pattern(left, code, names, depth + 1);
            }
        }
        "pair_pattern" => {
            if let Some(value) = node.child_by_field_name("value") {
                pattern(value, code, names, depth + 1);
            }
        }
        _ => {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                pattern(child, code, names, depth + 1);
            }
        }
    }
}

fn imported(clause: Node<'_>, code: &str, names: &mut Vec<String>) {
    let mut cursor = clause.walk();
    for part in clause.named_children(&mut cursor) {
        match part.kind() {
            "identifier" => names.push(code[part.byte_range()].to_owned()),
            "import_specifier" => {
                let field = part.child_by_field_name("alias");
                if let Some(name) = field.or_else(|| part.child_by_field_name("name")) {
                    names.push(code[name.byte_range()].to_owned());
                }
            }
            _ => imported(part, code, names),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Script;
    use super::*;

    /// Runs cells one after the other and compares the code of the last.
    #[track_caller]
    fn check(before: &str, code: &str, expected: &str) {
        let mut known = Names::default();
        known.add(Script::of(before, &known).names);
        assert_eq!(Script::of(code, &known).code, expected, "{before} / {code}");
    }

    // R96: what an earlier cell declared may be declared again, in any way.
    #[test]
    fn a_name_of_the_other_kind_gets_the_word_that_fits() {
        check("var a = 1", "let a = 2", "var a = 2");
        check(
            "var a = 1",
            "const { x, a: [b] } = c",
            "const { x, a: [b] } = c",
        );
        check(
            "var b = 1",
            "const { x, a: [b = 2] } = c",
            "var { x, a: [b = 2] } = c",
        );
        check(
            "function f() {}",
            "const f = () => 1;\nf()",
            "var f = () => 1;\nf()",
        );
        check("function f() {}", "class f {}\nf", "var f = class f {};\nf");
        check(
            "let f = 1",
            "async function f() {}\nf()",
            "let f = async function f() {};\nf()",
        );
        check("class C {}", "var C = 1", "let C = 1");
        check("let i = 1", "for (var i = 0;;) {}", "for (let i = 0;;) {}");
        check("let i = 1", "for (var i of []) {}", "for (let i of []) {}");
        check("for (var i = 0;;) { var j }", "let i, k, j", "var i, k, j");
        check("import { p as q } from 'a'", "var q = 1", "let q = 1");
        check(
            "var fs",
            "import fs from 'fs'",
            "var { default: fs } = await __toolbox_import('fs');",
        );
        check("export const x = 1", "export var x = 2", "let x = 2");
    }

    #[test]
    fn other_names_and_inner_ones_stay() {
        for (before, code) in [
            ("let a = 1", "let a = 2"),
            ("var a = 1", "var a = 2; function a() {}"),
            ("var a = 1", "{ let a = 2 }"),
            ("let a = 1", "function f() { var a = 2 }"),
            ("let a = 1", "(() => { var a = 2 })()"),
            ("const b = 1", "const a = 1; class c {}"),
            // Of both kinds: V8 says what is wrong.
            ("var a; let b", "let a, b"),
        ] {
            check(before, code, code);
        }
    }
}
