//! TSX: TypeScript with JSX.

use super::javascript::{
    CLASS_MEMBER, DECORATOR, DECORATOR_OF_CLASS, EXPORT, EXPRESSION, IMPORT, JSX_ATTRIBUTE,
    JSX_CHILD, LABELED_STATEMENT, MATCH_ARM, OBJECT_MEMBER, STATEMENT, STATEMENT_IN_CONSTRUCTOR,
    STATEMENT_IN_LOOP, TRY_CLAUSE,
};
use super::typescript::{
    ABSTRACT_MEMBER, AMBIENT, DECLARATION, DEFAULT_ARM, ENUM_MEMBER, FAMILY, INTERFACE_MEMBER,
    PARAMETER, PROPERTY_PARAMETER, RETURN_TYPE, TYPE, TYPE_MEMBER, TYPE_PARAMETER,
};
use super::{Language, Syntax};

pub(crate) const ROW: Language = Language {
    id: "tsx",
    aliases: &["typescriptreact", "react"],
    extensions: &["tsx"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    syntax: SYNTAX,
};

/// The rungs of TypeScript, and those of JSX among the members.
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
        JSX_ATTRIBUTE,
        JSX_CHILD,
        DECORATOR,
        DECORATOR_OF_CLASS,
        IMPORT,
        EXPORT,
    ],
    ..FAMILY
};
