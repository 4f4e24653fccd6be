//! The table of bundled languages: one row each, data only.
//!
//! A row says how files of the language are recognised, which grammar parses them, and what the
//! pattern compiler needs to know that a grammar does not tell: the scaffolds of the ladder, the
//! spellings of a metavariable, which tokens are trivia. It must not know how matching works.
//! To add a language, add a file below `languages/` and a line in [`ALL`].

#[cfg(feature = "all-languages")]
mod bash;
mod c;
#[cfg(feature = "all-languages")]
mod cpp;
#[cfg(feature = "all-languages")]
mod csharp;
#[cfg(feature = "all-languages")]
mod css;
mod dart;
#[cfg(feature = "all-languages")]
mod elixir;
#[cfg(feature = "all-languages")]
mod go;
#[cfg(feature = "all-languages")]
mod haskell;
#[cfg(feature = "all-languages")]
mod hcl;
#[cfg(feature = "all-languages")]
mod html;
#[cfg(feature = "all-languages")]
mod java;
mod javascript;
#[cfg(feature = "all-languages")]
mod json;
#[cfg(feature = "all-languages")]
mod jsx;
#[cfg(feature = "all-languages")]
mod kotlin;
#[cfg(feature = "all-languages")]
mod lua;
#[cfg(feature = "all-languages")]
mod nix;
#[cfg(feature = "all-languages")]
mod php;
mod python;
#[cfg(feature = "all-languages")]
mod ruby;
mod rust;
#[cfg(feature = "all-languages")]
mod scala;
#[cfg(feature = "all-languages")]
mod solidity;
#[cfg(feature = "all-languages")]
mod swift;
#[cfg(feature = "all-languages")]
mod toml;
#[cfg(feature = "all-languages")]
mod tsx;
#[cfg(feature = "all-languages")]
mod typescript;
#[cfg(feature = "all-languages")]
mod yaml;
#[cfg(feature = "all-languages")]
mod zig;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// One bundled language: recognition, grammar and what patterns need to know.
#[derive(Debug)]
pub struct Language {
    /// Canonical id, such as `rust`.
    pub id: &'static str,
    /// Other names that `-l` and `language` accept, such as `rs`.
    pub aliases: &'static [&'static str],
    /// File name extensions without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names, such as `PKGBUILD`.
    pub file_names: &'static [&'static str],
    /// Interpreter names of a `#!` line, without version digits, such as `python`.
    pub interpreters: &'static [&'static str],
    /// The pinned grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// What patterns need to know.
    pub syntax: Syntax,
}

/// What the pattern compiler, the matcher and the rewriter need to know of a language.
#[derive(Debug)]
pub struct Syntax {
    /// The ladder: scaffolds in the order of [`Context`]. Several entries of one context are tried in
    /// row order.
    pub rungs: &'static [Rung],
    /// Spellings of a metavariable for the parser, in the order in which they are tried. `{}` is the
    /// stand-in identifier (lower case). The first is the bare identifier `{}`.
    pub forms: &'static [&'static str],
    /// The terminator that the scaffold may supply where the fragment does not write it.
    pub terminator: Option<&'static str>,
    /// Whether that terminator may be absent from correct sources (JavaScript, Go, Kotlin...).
    pub terminator_optional: bool,
    /// Tokens that separate the elements of a list; a last one before the closing token, or at the end
    /// of its parent, is trivia.
    pub separators: &'static [&'static str],
    /// How line and block comments begin.
    pub comment_starts: &'static [&'static str],
    /// Kinds that are comments or other trivia (line continuations). Kinds whose name contains
    /// `comment` are trivia without being listed.
    pub trivia: &'static [&'static str],
    /// Kinds of an expression used as a statement (with or without its terminator).
    pub expression_statements: &'static [&'static str],
    /// Kinds that merely wrap a list or a body and have no brackets of their own (Go's
    /// `expression_list`, Python's `block`): never one node for a metavariable, and absent where
    /// the list is empty.
    pub lists: &'static [&'static str],
    /// Kinds that are never one node for `$NAME`: declarators with an initializer, pointer or
    /// dimension of their own.
    pub declarators: &'static [&'static str],
    /// Kinds of string literals, quotes included.
    pub strings: &'static [&'static str],
    /// Kinds that stand before a node as siblings of it and belong to it (attributes, decorators).
    pub attached: &'static [&'static str],
    /// Kinds of list in which a trailing separator after the only element changes the meaning
    /// (one-element tuples).
    pub tuples: &'static [&'static str],
    /// Named kinds that are text between elements: trivia where it is white space only (JSX, HTML).
    pub text: &'static [&'static str],
    /// Unnamed tokens that stand for a whole expression or type, and so are one node for `$NAME`.
    pub words: &'static [&'static str],
    /// What puts an expression in parentheses.
    pub parentheses: Option<(&'static str, &'static str)>,
    /// Whether a type may be put in the same parentheses.
    pub type_parentheses: bool,
    /// Where the language wants parentheses, or groups otherwise, although the grammar does not tell.
    pub wraps: &'static [Wrap],
    /// Kinds of parent in which a `;` between two children means no more than a line end.
    pub loose: &'static [&'static str],
    /// Kinds that stand among the statements of a body but continue the statement around it (Ruby's
    /// `rescue`, bash's `else_clause`): no metavariable and no run ever takes one.
    pub clauses: &'static [&'static str],
    /// Keywords that the grammar reads as identifiers where the keyword does not fit: a reading with
    /// one of them as an identifier is refused.
    pub reserved: &'static [&'static str],
    /// A kind and a kind of child that make no sense together, unless a leaf of the parent before that
    /// child has the text of the third element (empty: always): such a reading is refused.
    pub never: &'static [(&'static str, &'static str, &'static str)],
    /// Kinds that hold exactly one node in brackets: a run alone in them is a list of another kind, which
    /// the form `{},` spells.
    pub singles: &'static [&'static str],
    /// Kinds below which the root of a pattern is not looked for (a command is more than its name).
    pub whole: &'static [&'static str],
    /// The kinds that `reserved` looks at.
    pub reserved_kinds: &'static [&'static str],
    /// Kinds that hold the parts of a dotted path as children of their own (Scala's imports): a `$NAME`
    /// there stands for one or more of them.
    pub paths: &'static [&'static str],
    /// Kinds that are another kind under a second name, where the grammar tells the place in a node's
    /// kind: the kind, a child token that it must have (empty: always), and the kind that it counts as.
    pub same: &'static [(&'static str, &'static str, &'static str)],
    /// Whether the grammar stumbles over correct code now and then (macros, new syntax). What it makes of the
    /// rest of a file is then a guess, so units with errors are read apart from the others.
    pub stumbles: bool,
    /// The kind of a body that ends with its indentation, where statements have such bodies.
    pub suite: Option<&'static str>,
    /// Kinds of statement that a word of their own begins, where a statement begins a line or stands behind `;`
    /// or `:`.
    pub leads: &'static [&'static str],
    /// Whether keywords may be written in any case.
    pub keywords_ignore_case: bool,
    /// Kinds of body that must hold at least one statement, whatever the grammar says.
    pub nonempty: &'static [&'static str],
    /// The kind of a token list that is parsed again as code (the arguments of a Rust macro).
    pub token_tree: Option<TokenTree>,
    /// Kinds whose node takes in a separator that belongs to the list around it (Rust's match arms).
    pub outer_separators: &'static [&'static str],
    /// Where brackets around one metavariable have another kind in the tree than those around what it
    /// stands for.
    pub bracketed: &'static [Bracketed],
    /// A kind of root that one rung leaves to a later rung where that one takes the fragment too.
    pub yields: &'static [(Context, &'static str, Context)],
    /// Kinds of binary expression, and how strongly each binds, where the grammar lets the right side of
    /// one reach too far.
    pub strengths: &'static [(&'static str, u8)],
    /// Whether the grammar wants a line end before the `}` of a body, where the language does not.
    pub line_end_before_brace: bool,
}

/// One node in brackets whose kind the brackets tell (`sizeof(int)`, a lone generator as argument).
#[derive(Debug)]
pub struct Bracketed {
    /// Kind of the brackets with a metavariable in them.
    pub list: &'static str,
    /// Kind of what the metavariable also stands for: its node has the brackets itself, or stands
    /// between them.
    pub instead: &'static str,
    /// Kind of the parent.
    pub under: &'static str,
}

/// A place that takes some kinds of child in parentheses only.
#[derive(Debug)]
pub struct Wrap {
    /// Kind of the parent.
    pub parent: &'static str,
    /// The token of the parent right before the child; empty: any or none.
    pub after: &'static str,
    /// The token of the parent right after the child; empty: any or none.
    pub before: &'static str,
    /// Whether the child is also looked for further down the left edge of the parent's child.
    pub leading: Leading,
    /// Kinds of child; after a blank, a token that the child must hold.
    pub kinds: &'static [&'static str],
}

/// How far down the left edge a [`Wrap`] looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leading {
    /// At the parent's child only.
    No,
    /// At the parent's child and everything that begins where it begins.
    Yes,
    /// As `Yes`, but not at the parent's child itself.
    Below,
}

impl Wrap {
    /// Any of the kinds anywhere directly in a parent.
    pub(crate) const fn new(parent: &'static str, kinds: &'static [&'static str]) -> Wrap {
        Wrap {
            parent,
            after: "",
            before: "",
            leading: Leading::No,
            kinds,
        }
    }
}

/// Where a grammar leaves code as a list of tokens, and how it is parsed again.
#[derive(Debug)]
pub struct TokenTree {
    /// Kind of the token list, brackets included.
    pub kind: &'static str,
    /// Only below a parent of one of these kinds.
    pub parents: &'static [&'static str],
    /// Text around the content between the brackets, tried in order: the content must parse as whole
    /// children of one node of the given kind.
    pub scaffolds: &'static [(&'static str, &'static str, &'static str)],
}

/// A syntax row with nothing in it: rows are written as its updates.
pub(crate) const PLAIN: Syntax = Syntax {
    rungs: &[],
    forms: &["{}"],
    terminator: None,
    terminator_optional: false,
    separators: &[","],
    comment_starts: &["//", "/*"],
    trivia: &[],
    expression_statements: &["expression_statement"],
    lists: &[],
    declarators: &[],
    strings: &[],
    attached: &[],
    tuples: &[],
    text: &[],
    words: &[],
    parentheses: None,
    type_parentheses: true,
    wraps: &[],
    loose: &[],
    clauses: &[],
    never: &[],
    singles: &[],
    whole: &[],
    reserved: &[],
    reserved_kinds: &["identifier"],
    paths: &[],
    same: &[],
    stumbles: false,
    suite: None,
    leads: &[],
    keywords_ignore_case: false,
    nonempty: &[],
    token_tree: None,
    outer_separators: &[],
    bracketed: &[],
    yields: &[],
    strengths: &[],
    line_end_before_brace: false,
};

/// A place in the grammar that a fragment is tried in: a scaffold on both sides of it.
#[derive(Debug)]
pub struct Rung {
    /// Which rung of the ladder this is.
    pub context: Context,
    /// Text before the fragment.
    pub before: &'static str,
    /// Text after the fragment.
    pub after: &'static str,
    /// White space that goes before every line of the fragment but its first, where layout counts.
    pub indent: &'static str,
    /// Which kinds the outermost node of the fragment may have here.
    pub accepts: Accept,
    /// Modifiers that have no meaning here although the grammar takes them.
    pub refused_words: &'static [&'static str],
}

/// Which node kinds a rung takes.
#[derive(Debug)]
pub enum Accept {
    /// Every kind.
    Any,
    /// Only these kinds.
    Only(&'static [&'static str]),
    /// Every kind but these.
    Not(&'static [&'static str]),
}

impl Rung {
    /// A rung that takes every kind.
    pub(crate) const fn new(context: Context, before: &'static str, after: &'static str) -> Rung {
        Rung {
            context,
            before,
            after,
            indent: "",
            accepts: Accept::Any,
            refused_words: &[],
        }
    }

    /// The same rung, closed to nodes with one of these modifiers.
    #[cfg_attr(
        not(feature = "all-languages"),
        expect(dead_code, reason = "no row of the small build closes a rung so")
    )]
    pub(crate) const fn without_words(mut self, words: &'static [&'static str]) -> Rung {
        self.refused_words = words;
        self
    }

    /// The same rung, with the lines of the fragment indented.
    pub(crate) const fn indented(mut self, indent: &'static str) -> Rung {
        self.indent = indent;
        self
    }

    /// The same rung, restricted to some kinds.
    pub(crate) const fn only(mut self, kinds: &'static [&'static str]) -> Rung {
        self.accepts = Accept::Only(kinds);
        self
    }

    /// The same rung, closed to some kinds.
    pub(crate) const fn not(mut self, kinds: &'static [&'static str]) -> Rung {
        self.accepts = Accept::Not(kinds);
        self
    }
}

/// The rungs of the ladder, in the order in which they are tried (D14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Context {
    /// A statement, or an expression used as one.
    #[serde(rename = "statement")]
    Statement,
    /// An expression.
    #[serde(rename = "expression")]
    Expression,
    /// A member of a class body.
    #[serde(rename = "class member")]
    ClassMember,
    /// A declaration at the top level of a file.
    #[serde(rename = "declaration")]
    Declaration,
    /// A type.
    #[serde(rename = "type")]
    Type,
    /// A parameter of a function.
    #[serde(rename = "parameter")]
    Parameter,
    /// An arm of a `match`, a case of a `switch`.
    #[serde(rename = "match arm")]
    MatchArm,
    /// A member of an object, dict or struct literal.
    #[serde(rename = "object member")]
    ObjectMember,
    /// A decorator, annotation or attribute.
    #[serde(rename = "decorator")]
    Decorator,
    /// An import.
    #[serde(rename = "import")]
    Import,
}

impl Context {
    /// Every rung, in ladder order.
    pub const ALL: [Context; 10] = [
        Context::Statement,
        Context::Expression,
        Context::ClassMember,
        Context::Declaration,
        Context::Type,
        Context::Parameter,
        Context::MatchArm,
        Context::ObjectMember,
        Context::Decorator,
        Context::Import,
    ];

    /// The name that users write and answers print.
    pub fn name(self) -> &'static str {
        match self {
            Context::Statement => "statement",
            Context::Expression => "expression",
            Context::ClassMember => "class member",
            Context::Declaration => "declaration",
            Context::Type => "type",
            Context::Parameter => "parameter",
            Context::MatchArm => "match arm",
            Context::ObjectMember => "object member",
            Context::Decorator => "decorator",
            Context::Import => "import",
        }
    }

    /// Reads a rung's name or one of its aliases.
    pub fn parse(name: &str) -> Option<Context> {
        let name = name.trim().to_lowercase().replace(['_', '-'], " ");
        let aliased = match name.as_str() {
            "member" => "class member",
            "arm" | "case" => "match arm",
            "attribute" | "annotation" => "decorator",
            other => other,
        };
        Context::ALL.into_iter().find(|c| c.name() == aliased)
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every bundled language, sorted by id.
pub const ALL: &[&Language] = &[
    #[cfg(feature = "all-languages")]
    &bash::ROW,
    &c::ROW,
    #[cfg(feature = "all-languages")]
    &cpp::ROW,
    #[cfg(feature = "all-languages")]
    &csharp::ROW,
    #[cfg(feature = "all-languages")]
    &css::ROW,
    &dart::ROW,
    #[cfg(feature = "all-languages")]
    &elixir::ROW,
    #[cfg(feature = "all-languages")]
    &go::ROW,
    #[cfg(feature = "all-languages")]
    &haskell::ROW,
    #[cfg(feature = "all-languages")]
    &hcl::ROW,
    #[cfg(feature = "all-languages")]
    &html::ROW,
    #[cfg(feature = "all-languages")]
    &java::ROW,
    &javascript::ROW,
    #[cfg(feature = "all-languages")]
    &json::ROW,
    #[cfg(feature = "all-languages")]
    &jsx::ROW,
    #[cfg(feature = "all-languages")]
    &kotlin::ROW,
    #[cfg(feature = "all-languages")]
    &lua::ROW,
    #[cfg(feature = "all-languages")]
    &nix::ROW,
    #[cfg(feature = "all-languages")]
    &php::ROW,
    &python::ROW,
    #[cfg(feature = "all-languages")]
    &ruby::ROW,
    &rust::ROW,
    #[cfg(feature = "all-languages")]
    &scala::ROW,
    #[cfg(feature = "all-languages")]
    &solidity::ROW,
    #[cfg(feature = "all-languages")]
    &swift::ROW,
    #[cfg(feature = "all-languages")]
    &toml::ROW,
    #[cfg(feature = "all-languages")]
    &tsx::ROW,
    #[cfg(feature = "all-languages")]
    &typescript::ROW,
    #[cfg(feature = "all-languages")]
    &yaml::ROW,
    #[cfg(feature = "all-languages")]
    &zig::ROW,
];

/// Finds a language by id or alias, whatever the case.
pub fn by_name(name: &str) -> Option<&'static Language> {
    let name = name.trim().to_lowercase();
    ALL.iter()
        .copied()
        .find(|l| l.id == name || l.aliases.contains(&name.as_str()))
}

/// Asked for every file of a walk, so the rows are looked up by their words; the first row with one has it.
type ByWord = HashMap<&'static str, &'static Language>;

static BY_FILE_NAME: LazyLock<ByWord> = LazyLock::new(|| by_word(|row| row.file_names));
static BY_EXTENSION: LazyLock<ByWord> = LazyLock::new(|| by_word(|row| row.extensions));

fn by_word(words: impl Fn(&'static Language) -> &'static [&'static str]) -> ByWord {
    let mut rows = ByWord::new();
    for row in ALL.iter().copied() {
        for word in words(row) {
            rows.entry(word).or_insert(row);
        }
    }
    rows
}

/// Finds the language of a file by its whole name or its extension; the content is not looked at.
pub fn by_path(path: &Path) -> Option<&'static Language> {
    let name = path.file_name()?.to_str()?;
    if let Some(found) = BY_FILE_NAME.get(name) {
        return Some(found);
    }
    // The longest extension wins, so that `a.d.ts` could be told from `a.ts`.
    let mut rest = name.strip_prefix('.').unwrap_or(name);
    while let Some((_, extension)) = rest.split_once('.') {
        let found = BY_EXTENSION.get(extension).or_else(|| {
            // No row has an extension with a capital letter.
            BY_EXTENSION.get(extension.to_lowercase().as_str())
        });
        if let Some(found) = found {
            return Some(found);
        }
        rest = extension;
    }
    None
}

/// Finds the language that a `#!` line names.
pub fn by_shebang(first_bytes: &[u8]) -> Option<&'static Language> {
    let line = first_bytes.strip_prefix(b"#!")?;
    let line = line.split(|b| *b == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim();
    let mut words = line.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|w| !w.starts_with('-') && !w.contains('='))?;
        program = program.rsplit('/').next()?;
    }
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    ALL.iter()
        .copied()
        .find(|l| l.interpreters.contains(&bare) || l.interpreters.contains(&program))
}
