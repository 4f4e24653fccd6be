//! C#: members with modifiers, statements in methods.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "csharp",
    aliases: &["c#", "cs", "c-sharp"],
    extensions: &["cs", "csx", "cake"],
    file_names: &[],
    interpreters: &["dotnet-script", "csi"],
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        // A function in a body is read as a method; the declaration rung still takes local functions.
        Rung::new(
            Context::Statement,
            "class Zs { async Task Zm() {\n",
            "\n} }\n",
        )
        .not(&["local_function_statement"])
        .without_words(&[
            "private",
            "protected",
            "public",
            "internal",
            "static",
            "readonly",
            "volatile",
            "override",
            "virtual",
            "abstract",
        ]),
        Rung::new(
            Context::Expression,
            "class Zs { async Task Zm() { Zf(",
            "\n); } }\n",
        )
        .not(&["declaration_expression"]),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}\n"),
        Rung::new(Context::ClassMember, "enum Zs {\n", "\n}\n").only(&["enum_member_declaration"]),
        Rung::new(Context::ClassMember, "class Zs { int Zp {\n", "\n} }\n")
            .only(&["accessor_declaration"]),
        Rung::new(Context::Declaration, "", "\n").not(&[
            "global_attribute",
            "using_directive",
            "extern_alias_directive",
        ]),
        Rung::new(Context::Type, "class Zs { ", "\nzf; }\n"),
        Rung::new(Context::Parameter, "class Zs { void Zm(", "\n) {} }\n").only(&["parameter"]),
        Rung::new(Context::Parameter, "class Zs<", "\n> {}\n").only(&["type_parameter"]),
        Rung::new(
            Context::MatchArm,
            "class Zs { void Zm() { switch (zv) {\n",
            "\n} } }\n",
        )
        .only(&["switch_section"]),
        Rung::new(
            Context::MatchArm,
            "class Zs { int zf = zv switch {\n",
            "\n}; }\n",
        )
        .only(&["switch_expression_arm"]),
        Rung::new(
            Context::ObjectMember,
            "class Zs { Zt zf = new Zt {\n",
            "\n}; }\n",
        )
        .only(&["assignment_expression"]),
        Rung::new(
            Context::ObjectMember,
            "class Zs { void Zm() { Zf(",
            "\n); } }\n",
        )
        .only(&["argument"]),
        Rung::new(Context::Decorator, "", "\nclass Zs {}\n").only(&["attribute_list"]),
        Rung::new(Context::Import, "", "\n").only(&["using_directive", "extern_alias_directive"]),
    ],
    forms: &["{}", "{};", "T {};", "case {}:", "{} => T", "record {};"],
    terminator: Some(";"),
    terminator_optional: false,
    declarators: &["variable_declarator"],
    strings: &[
        "string_literal",
        "verbatim_string_literal",
        "raw_string_literal",
        "character_literal",
        "interpolated_string_expression",
    ],
    clauses: &[
        "catch_clause",
        "finally_clause",
        "preproc_elif",
        "preproc_else",
    ],
    reserved: &[
        "abstract",
        "as",
        "case",
        "catch",
        "class",
        "default",
        "delegate",
        "do",
        "else",
        "enum",
        "event",
        "finally",
        "for",
        "foreach",
        "if",
        "interface",
        "in",
        "internal",
        "is",
        "lock",
        "namespace",
        "new",
        "null",
        "operator",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "struct",
        "switch",
        "throw",
        "try",
        "using",
        "virtual",
        "void",
        "while",
    ],
    // `[Fact]` is an attribute far more often than a list of one.
    yields: &[(
        Context::Expression,
        "collection_expression",
        Context::Decorator,
    )],
    never: &[("lambda_expression", "initializer_expression", "")],
    words: &["this", "base"],
    parentheses: Some(("(", ")")),
    type_parentheses: false,
    ..PLAIN
};
