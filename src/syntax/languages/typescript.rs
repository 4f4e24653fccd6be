//! TypeScript, and the parts of the row that TSX shares.

use super::javascript::{
    CLASS_MEMBER, DECORATOR, DECORATOR_OF_CLASS, EXPORT, EXPRESSION, FAMILY, IMPORT, JSX_ATTRIBUTE,
    JSX_CHILD, LABELED_STATEMENT, MATCH_ARM, OBJECT_MEMBER, STATEMENT, STATEMENT_IN_CONSTRUCTOR,
    STATEMENT_IN_LOOP, TRY_CLAUSE,
};
use super::{Context, Language, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "typescript",
    aliases: &["ts", "mts", "cts", "deno"],
    extensions: &["ts", "mts", "cts"],
    file_names: &[],
    interpreters: &["deno", "ts-node", "tsx"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    syntax: SYNTAX,
};

/// What TypeScript and TSX say of patterns.
pub(super) const SYNTAX: Syntax = Syntax {
    rungs: &[
        STATEMENT,
        STATEMENT_IN_LOOP,
        STATEMENT_IN_CONSTRUCTOR,
        LABELED_STATEMENT,
        TRY_CLAUSE,
        // `default: x` would pass for a field of a class.
        Rung::new(Context::Statement, "switch (zs) {\n", "\n}").only(&["switch_default"]),
        EXPRESSION,
        CLASS_MEMBER,
        Rung::new(Context::ClassMember, "abstract class Zs {\n", "\n}"),
        Rung::new(Context::ClassMember, "interface Zs {\n", "\n}"),
        Rung::new(Context::ClassMember, "enum Zs {\n", "\n}"),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Declaration, "declare module 'zs' {\n", "\n}"),
        Rung::new(Context::Type, "type Zs = ", "\n;"),
        Rung::new(Context::Type, "function zs(): ", "\n{}"),
        // Beside a field of a class, a member of an interface has a place only among the types.
        Rung::new(Context::Type, "interface Zs {\n", "\n}").only(&[
            "property_signature",
            "method_signature",
            "call_signature",
            "construct_signature",
            "index_signature",
        ]),
        Rung::new(Context::Parameter, "function zs(", "\n) {}"),
        Rung::new(Context::Parameter, "class Zs { constructor(", "\n) {} }"),
        Rung::new(Context::Parameter, "function zs<", "\n>() {}").only(&["type_parameter"]),
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
