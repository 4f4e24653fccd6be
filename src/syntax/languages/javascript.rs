//! JavaScript (with JSX), and the parts of the row that its relatives share.

use super::{Context, Language, PLAIN, Rung, Syntax};

/// The row; `jsx.rs`, `typescript.rs` and `tsx.rs` build on its parts.
pub(crate) const ROW: Language = Language {
    id: "javascript",
    aliases: &["js", "mjs", "cjs", "node"],
    extensions: &["js", "mjs", "cjs"],
    file_names: &["Jakefile"],
    interpreters: &["node", "nodejs", "bun"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    syntax: SYNTAX,
};

/// What JavaScript and JSX say of patterns.
pub(super) const SYNTAX: Syntax = Syntax {
    rungs: &[
        STATEMENT,
        STATEMENT_IN_LOOP,
        STATEMENT_IN_CONSTRUCTOR,
        LABELED_STATEMENT,
        TRY_CLAUSE,
        EXPRESSION,
        CLASS_MEMBER,
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Parameter, "function zs(", "\n) {}").not(&["comment"]),
        MATCH_ARM,
        OBJECT_MEMBER,
        JSX_ATTRIBUTE,
        JSX_CHILD,
        DECORATOR,
        DECORATOR_OF_CLASS,
        IMPORT,
        EXPORT,
    ],
    ..FAMILY
};

/// A body in which `await`, `yield` and `return` mean what they say.
pub(super) const STATEMENT: Rung =
    Rung::new(Context::Statement, "async function* zs() {\n", "\n}").not(NO_STATEMENT);
/// A loop with a label, for `break` and `continue`.
pub(super) const STATEMENT_IN_LOOP: Rung =
    Rung::new(Context::Statement, "zl: for (;;) {\n", "\n}").not(NO_STATEMENT);
/// A constructor, for `super(..)`.
pub(super) const STATEMENT_IN_CONSTRUCTOR: Rung = Rung::new(
    Context::Statement,
    "class Zs extends Zb { constructor() {\n",
    "\n} }",
)
.not(NO_STATEMENT);
/// What a body can be misread to hold when its braces are taken for those of an object.
/// `default:` would pass for a label there, so labels have a scaffold of their own.
const NO_STATEMENT: &[&str] = &["method_definition", "pair", "labeled_statement", "comment"];
/// A `switch`, in which `default:` and `case x:` are no labels.
pub(super) const LABELED_STATEMENT: Rung =
    Rung::new(Context::Statement, "switch (zs) { case zs:\n", "\n}").only(&["labeled_statement"]);
/// The clauses of a `try`: `catch (e) {}` would pass for a method of that name.
pub(super) const TRY_CLAUSE: Rung =
    Rung::new(Context::Statement, "try {} ", "\n").only(&["catch_clause", "finally_clause"]);
pub(super) const EXPRESSION: Rung =
    Rung::new(Context::Expression, "async function* zs() { zf(", "\n) }");
pub(super) const CLASS_MEMBER: Rung = Rung::new(Context::ClassMember, "class Zs {\n", "\n}");
pub(super) const MATCH_ARM: Rung =
    Rung::new(Context::MatchArm, "switch (zs) {\n", "\n}").only(&["switch_case", "switch_default"]);
pub(super) const OBJECT_MEMBER: Rung = Rung::new(Context::ObjectMember, "zs = {", "\n}");
/// An attribute of an element is to JSX what a member is to an object.
pub(super) const JSX_ATTRIBUTE: Rung =
    Rung::new(Context::ObjectMember, "zs = <za ", "\n/>").only(&["jsx_attribute"]);
pub(super) const JSX_CHILD: Rung =
    Rung::new(Context::ObjectMember, "zs = <za>", "\n</za>").only(&["jsx_expression"]);
pub(super) const DECORATOR: Rung =
    Rung::new(Context::Decorator, "class Zs { @za ", "\nzm() {} }").only(&["decorator"]);
pub(super) const DECORATOR_OF_CLASS: Rung =
    Rung::new(Context::Decorator, "@za ", "\nclass Zs {}").only(&["decorator"]);
pub(super) const IMPORT: Rung =
    Rung::new(Context::Import, "import { ", "\n} from 'zs'").only(&["import_specifier"]);
pub(super) const EXPORT: Rung =
    Rung::new(Context::Import, "export { ", "\n} from 'zs'").only(&["export_specifier"]);

/// What all four languages share; the rungs come from each.
pub(super) const FAMILY: Syntax = Syntax {
    stumbles: true,
    forms: &[
        "{}", "{};", "{}: {}", "case {}:", "{}() { }", "'{}'", "{}={{}}",
    ],
    terminator: Some(";"),
    terminator_optional: true,
    separators: &[",", ";"],
    lists: &["import_clause"],
    declarators: &["variable_declarator"],
    strings: &["string", "template_string", "regex"],
    attached: &["decorator"],
    text: &["jsx_text"],
    // `key: value` is a member of an object far more often than a label before an expression.
    never: &[("labeled_statement", "expression_statement", "")],
    loose: &["class_body"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
