//! A grammar at run time: the parser pool of a language and what each node kind means to the matcher.
//!
//! The language table names kinds as text; here they become bit flags indexed by kind id, so that the
//! flattener and the matcher never compare names. It knows no pattern.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use crate::syntax::languages::{self, Language};

/// What a node kind means, as bit flags; the low sixteen are also kept with every node.
pub(crate) mod flag {
    /// A named node.
    pub const NAMED: u32 = 1;
    /// A comment or other trivia: not part of the flat tree.
    pub const TRIVIA: u32 = 1 << 1;
    /// A string literal.
    pub const STRING: u32 = 1 << 2;
    /// A wrapper around a list or a body.
    pub const LIST: u32 = 1 << 3;
    /// A declarator with parts of its own.
    pub const DECLARATOR: u32 = 1 << 4;
    /// A separator between elements.
    pub const SEPARATOR: u32 = 1 << 5;
    /// The terminator of statements.
    pub const TERMINATOR: u32 = 1 << 6;
    /// An attribute or decorator that stands before what it belongs to.
    pub const ATTACHED: u32 = 1 << 7;
    /// An expression used as a statement.
    pub const EXPRESSION_STATEMENT: u32 = 1 << 8;
    /// A one-element list of this kind needs its trailing separator.
    pub const TUPLE: u32 = 1 << 9;
    /// An unnamed token that is one node for a metavariable.
    pub const WORD: u32 = 1 << 10;
    /// A closing bracket.
    pub const CLOSER: u32 = 1 << 16;
    /// A list of tokens that may be parsed again.
    pub const TOKEN_TREE: u32 = 1 << 17;
    /// May be the parent of such a list.
    pub const TOKEN_TREE_PARENT: u32 = 1 << 18;
    /// Text between elements: trivia when blank.
    pub const TEXT: u32 = 1 << 19;
    /// A body that may not be empty.
    pub const NONEMPTY: u32 = 1 << 20;
    /// A parent in which a `;` between children is trivia.
    pub const LOOSE: u32 = 1 << 21;
    /// A `;`, whether or not it is the language's terminator.
    pub const SEMICOLON: u32 = 1 << 22;
    /// A kind that counts as another one, or a token that makes its parent count as another kind.
    pub const SAME: u32 = 1 << 23;
    /// Takes in a separator that belongs to the list around it.
    pub const OUTER_SEPARATOR: u32 = 1 << 24;
    /// Continues the statement around the body that it stands in.
    pub const CLAUSE: u32 = 1 << 11;
}

/// The kind id of ERROR nodes.
pub(crate) const ERROR_KIND: u16 = u16::MAX;

/// A kind that counts as another one.
struct Same {
    from: u16,
    /// The child token that makes it so; `None` for always.
    token: Option<u16>,
    to: u16,
}

/// The kinds of a [`Bracketed`](languages::Bracketed) row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BracketKinds {
    pub list: u16,
    pub instead: u16,
    pub under: u16,
}

/// A language ready to parse.
pub struct Grammar {
    /// The row of the table.
    pub row: &'static Language,
    /// The tree-sitter language.
    pub(crate) language: tree_sitter::Language,
    flags: Vec<u32>,
    /// Whether lists in which a line end may stand for a separator are nodes of their own.
    pub(crate) has_loose_lists: bool,
    same: Vec<Same>,
    strengths: HashMap<u16, u8>,
    parsers: Mutex<Vec<tree_sitter::Parser>>,
}

impl Grammar {
    fn new(row: &'static Language) -> Grammar {
        let language = (row.grammar)();
        let syntax = &row.syntax;
        let same = same_kinds(&language, syntax.same);
        let strengths = syntax.strengths.iter();
        let strengths = strengths
            .map(|(kind, strength)| (language.id_for_node_kind(kind, true), *strength))
            .collect();
        let flags: Vec<u32> = (0..language.node_kind_count())
            .map(|id| {
                let id = id as u16;
                let name = language.node_kind_for_id(id).unwrap_or("");
                let named = language.node_kind_is_named(id);
                let mut bits = 0u32;
                let mut set = |on: bool, bit: u32| {
                    if on {
                        bits |= bit;
                    }
                };
                set(named, flag::NAMED);
                set(
                    (named && name.contains("comment")) || syntax.trivia.contains(&name),
                    flag::TRIVIA,
                );
                set(syntax.tuples.contains(&name), flag::TUPLE);
                set(syntax.attached.contains(&name), flag::ATTACHED);
                if named {
                    set(syntax.strings.contains(&name), flag::STRING);
                    set(syntax.lists.contains(&name), flag::LIST);
                    set(syntax.declarators.contains(&name), flag::DECLARATOR);
                    set(
                        syntax.expression_statements.contains(&name),
                        flag::EXPRESSION_STATEMENT,
                    );
                    set(syntax.text.contains(&name), flag::TEXT);
                    set(syntax.nonempty.contains(&name), flag::NONEMPTY);
                    set(syntax.loose.contains(&name), flag::LOOSE);
                    set(
                        syntax.outer_separators.contains(&name),
                        flag::OUTER_SEPARATOR,
                    );
                    if let Some(tokens) = &syntax.token_tree {
                        set(tokens.kind == name, flag::TOKEN_TREE);
                        set(tokens.parents.contains(&name), flag::TOKEN_TREE_PARENT);
                    }
                } else {
                    set(syntax.separators.contains(&name), flag::SEPARATOR);
                    set(syntax.terminator == Some(name), flag::TERMINATOR);
                    set(name == ";", flag::SEMICOLON);
                    set(matches!(name, ")" | "]" | "}" | ">"), flag::CLOSER);
                }
                set(syntax.words.contains(&name), flag::WORD);
                set(syntax.clauses.contains(&name), flag::CLAUSE);
                set(
                    same.iter().any(|s| s.token.unwrap_or(s.from) == id),
                    flag::SAME,
                );
                bits
            })
            .collect();
        Grammar {
            row,
            language,
            has_loose_lists: (flags.iter())
                .any(|bits| bits & (flag::LOOSE | flag::LIST) == flag::LOOSE | flag::LIST),
            flags,
            same,
            strengths,
            parsers: Mutex::default(),
        }
    }

    /// The flags of a kind.
    #[inline]
    pub(crate) fn flags(&self, kind: u16) -> u32 {
        self.flags
            .get(kind as usize)
            .copied()
            .unwrap_or(flag::NAMED)
    }

    /// The kind that a kind counts as, whatever its children are.
    pub(crate) fn counts_as(&self, kind: u16) -> Option<u16> {
        let always = |s: &&Same| s.from == kind && s.token.is_none();
        self.same.iter().find(always).map(|s| s.to)
    }

    /// The kind that a parent counts as because of a child token.
    pub(crate) fn counts_as_with(&self, parent: u16, token: u16) -> Option<u16> {
        let told = |s: &&Same| s.from == parent && s.token == Some(token);
        self.same.iter().find(told).map(|s| s.to)
    }

    /// Every kind that has a flag.
    pub(crate) fn kinds_with(&self, bit: u32) -> Vec<u16> {
        (0..self.flags.len() as u16)
            .filter(|k| self.flags(*k) & bit != 0)
            .collect()
    }

    /// How strongly a kind of binary expression binds, where the grammar does not group by it.
    pub(crate) fn strength(&self, kind: u16) -> Option<u8> {
        self.strengths.get(&kind).copied()
    }

    /// Whether any kind has a strength.
    pub(crate) fn has_strengths(&self) -> bool {
        !self.strengths.is_empty()
    }

    /// The brackets that have another kind around a metavariable than around what it stands for.
    pub(crate) fn bracketed(&self) -> Vec<BracketKinds> {
        let id = |name| self.language.id_for_node_kind(name, true);
        let rows = self.row.syntax.bracketed.iter();
        rows.map(|row| BracketKinds {
            list: id(row.list),
            instead: id(row.instead),
            under: id(row.under),
        })
        .collect()
    }

    /// The name of a kind.
    pub(crate) fn kind_name(&self, kind: u16) -> &str {
        if kind == ERROR_KIND {
            return "ERROR";
        }
        self.language.node_kind_for_id(kind).unwrap_or("?")
    }

    /// Parses a text whole. `None` only when tree-sitter gives up, which it does on no input known.
    pub(crate) fn parse(&self, source: &[u8]) -> Option<tree_sitter::Tree> {
        let tree = self.parse_as_is(source)?;
        if !self.row.syntax.line_end_before_brace || !tree.root_node().has_error() {
            return Some(tree);
        }
        // A blank before a brace is put for a line end, so every position stays as it is. An error may
        // hide the braces after it, so it takes several rounds.
        let mut best = tree;
        let mut text = source.to_vec();
        for _ in 0..LINE_END_ROUNDS {
            if !best.root_node().has_error() || !put_line_ends(&best, &mut text) {
                break;
            }
            let Some(tree) = self.parse_as_is(&text) else {
                break;
            };
            if n_errors(&tree) > n_errors(&best) {
                break;
            }
            best = tree;
        }
        Some(best)
    }

    /// Parses a text as it stands.
    pub(crate) fn parse_as_is(&self, source: &[u8]) -> Option<tree_sitter::Tree> {
        self.with_parser(|parser| parser.parse(source, None))
    }

    fn with_parser<T>(&self, f: impl FnOnce(&mut tree_sitter::Parser) -> Option<T>) -> Option<T> {
        let pooled = self.lock().pop();
        let mut parser = match pooled {
            Some(parser) => parser,
            None => {
                let mut parser = tree_sitter::Parser::new();
                parser.set_language(&self.language).ok()?;
                parser
            }
        };
        let res = f(&mut parser);
        self.lock().push(parser);
        res
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<tree_sitter::Parser>> {
        self.parsers.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// How often a source with errors is parsed again with more line ends.
const LINE_END_ROUNDS: usize = 6;

/// Puts a line end for the blank before each closing brace; false where none stands so. Braces in strings
/// and comments are no tokens of the tree and stay.
fn put_line_ends(tree: &tree_sitter::Tree, text: &mut [u8]) -> bool {
    let mut changed = false;
    walk(tree, |node| {
        let before = node.start_byte().wrapping_sub(1);
        let is_brace = !node.is_named() && node.kind() == "}" && !node.is_missing();
        if is_brace && let Some(blank @ (b' ' | b'\t')) = text.get_mut(before) {
            *blank = b'\n';
            changed = true;
        }
        true
    });
    changed
}

fn n_errors(tree: &tree_sitter::Tree) -> usize {
    errors(tree).len()
}

/// Where the ERROR and MISSING nodes of a tree stand, in preorder.
pub(crate) fn errors(tree: &tree_sitter::Tree) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(tree, |node| {
        if node.is_error() || node.is_missing() {
            found.push(node.byte_range());
        }
        node.has_error()
    });
    found
}

/// Visits the nodes of a tree in preorder; `visit` says whether to go into a node.
fn walk(tree: &tree_sitter::Tree, mut visit: impl FnMut(tree_sitter::Node<'_>) -> bool) {
    let mut cursor = tree.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Looks up the kinds that a row declares to be the same; a name that the grammar lacks is passed over.
fn same_kinds(
    language: &tree_sitter::Language,
    rows: &[(&'static str, &'static str, &'static str)],
) -> Vec<Same> {
    let id = |name: &str, named: bool| {
        let id = language.id_for_node_kind(name, named);
        (id != 0).then_some(id)
    };
    rows.iter()
        .filter_map(|(from, token, to)| {
            Some(Same {
                from: id(from, true)?,
                token: match *token {
                    "" => None,
                    token => Some(id(token, false)?),
                },
                to: id(to, true)?,
            })
        })
        .collect()
}

/// Every bundled grammar, each loaded on first use. The process owns one and lends it to every run.
#[derive(Default)]
pub struct Grammars {
    loaded: HashMap<&'static str, OnceLock<Grammar>>,
}

impl Grammars {
    /// The languages of this build, none of them loaded yet.
    pub fn bundled() -> Grammars {
        Grammars {
            loaded: languages::ALL
                .iter()
                .map(|row| (row.id, OnceLock::new()))
                .collect(),
        }
    }

    /// The grammar of a row of the table.
    pub fn grammar(&self, row: &'static Language) -> &Grammar {
        self.loaded
            .get(row.id)
            .expect("every row of the table has a slot")
            .get_or_init(|| Grammar::new(row))
    }
}
