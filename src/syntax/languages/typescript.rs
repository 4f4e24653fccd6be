//! TypeScript, and the parts of the row that TSX shares.

use super::javascript::{
    CLASS_MEMBER, DECORATOR, DECORATOR_OF_CLASS, EXPORT, EXPRESSION, IMPORT, LABELED_STATEMENT,
    MATCH_ARM, OBJECT_MEMBER, STATEMENT, STATEMENT_IN_CONSTRUCTOR, STATEMENT_IN_LOOP, TRY_CLAUSE,
};
use super::{Context, Language, Rung, Syntax, javascript};

pub(crate) const ROW: Language = Language {
    id: "typescript",
    aliases: &["ts", "mts", "cts", "deno"],
    extensions: &["ts", "mts", "cts"],
    file_names: &[],
    interpreters: &["deno", "ts-node", "tsx"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        STATEMENT,
        STATEMENT_IN_LOOP,
        STATEMENT_IN_CONSTRUCTOR,
        LABELED_STATEMENT,
        TRY_CLAUSE,
        DEFAULT_ARM,
        EXPRESSION,
        CLASS_MEMBER,
        ABSTRACT_MEMBER,
        INTERFACE_MEMBER,
        ENUM_MEMBER,
        DECLARATION,
        AMBIENT,
        TYPE,
        RETURN_TYPE,
        TYPE_MEMBER,
        PARAMETER,
        PROPERTY_PARAMETER,
        TYPE_PARAMETER,
        MATCH_ARM,
        OBJECT_MEMBER,
        DECORATOR,
        DECORATOR_OF_CLASS,
        IMPORT,
        EXPORT,
    ],
    ..FAMILY
};

/// What TypeScript and TSX share beside their rungs.
pub(super) const FAMILY: Syntax = Syntax {
    loose: &["class_body", "interface_body", "object_type"],
    ..javascript::FAMILY
};

/// `default: x` would pass for a field of a class.
pub(super) const DEFAULT_ARM: Rung =
    Rung::new(Context::Statement, "switch (zs) {\n", "\n}").only(&["switch_default"]);

pub(super) const ABSTRACT_MEMBER: Rung =
    Rung::new(Context::ClassMember, "abstract class Zs {\n", "\n}");

pub(super) const INTERFACE_MEMBER: Rung =
    Rung::new(Context::ClassMember, "interface Zs {\n", "\n}");

pub(super) const ENUM_MEMBER: Rung = Rung::new(Context::ClassMember, "enum Zs {\n", "\n}");

pub(super) const DECLARATION: Rung = Rung::new(Context::Declaration, "", "\n");

pub(super) const AMBIENT: Rung = Rung::new(Context::Declaration, "declare module 'zs' {\n", "\n}");

pub(super) const TYPE: Rung = Rung::new(Context::Type, "type Zs = ", "\n;");

pub(super) const RETURN_TYPE: Rung = Rung::new(Context::Type, "function zs(): ", "\n{}");

/// Beside a field of a class, a member of an interface has a place only among the types.
pub(super) const TYPE_MEMBER: Rung = Rung::new(Context::Type, "interface Zs {\n", "\n}").only(&[
    "property_signature",
    "method_signature",
    "call_signature",
    "construct_signature",
    "index_signature",
]);

pub(super) const PARAMETER: Rung = Rung::new(Context::Parameter, "function zs(", "\n) {}");

pub(super) const PROPERTY_PARAMETER: Rung =
    Rung::new(Context::Parameter, "class Zs { constructor(", "\n) {} }");

pub(super) const TYPE_PARAMETER: Rung =
    Rung::new(Context::Parameter, "function zs<", "\n>() {}").only(&["type_parameter"]);
