//! Haskell.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "haskell",
    aliases: &["hs"],
    extensions: &["hs", "hsc"],
    file_names: &[],
    interpreters: &["runhaskell", "runghc"],
    grammar: || tree_sitter_haskell::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        // Keywords of declarations are names inside an expression, so `import X` would be read as an
        // application there: what stands at the top of a file comes first.
        Rung::new(Context::Statement, "zs = 1\n", "\nze = 1\n").not(&["top_splice"]),
        Rung::new(Context::Statement, "zs = do\n  ", "\n  ze\n").indented("  "),
        // `Just x -> y` is a type as well, but rather meant as this.
        Rung::new(Context::Statement, "zs = case zs of { 1 -> 1; ", " }\n").only(&["alternative"]),
        Rung::new(Context::Expression, "zs = zf (\n  ", "\n )\n").indented("  "),
        Rung::new(Context::ClassMember, "class Zs zs where\n  ", "\n").indented("  "),
        Rung::new(Context::Declaration, "zs = 1\n", "\nze = 1\n").not(&["top_splice"]),
        Rung::new(Context::Declaration, "", "\nzs = 1\n").only(&["header"]),
        Rung::new(Context::Type, "zs :: Zs -> ", "\n"),
        Rung::new(Context::Parameter, "zs za ", " ze = 1\n"),
        Rung::new(Context::MatchArm, "zs = case zs of { 1 -> 1; ", " }\n").only(&["alternative"]),
        Rung::new(Context::ObjectMember, "zs = zs { za = 1, ", "\n }\n").only(&["field_update"]),
        Rung::new(Context::ObjectMember, "data Zs = Zs { za :: Z, ", "\n }\n").only(&["field"]),
        Rung::new(Context::Import, "import Zs\n", "\n").only(&["import"]),
    ],
    forms: &["{}", "Z{}", "{} = {}", "{} -> {}", "{} :: Z", "\"{}\""],
    terminator_optional: true,
    separators: &[",", ";"],
    comment_starts: &["--", "{-"],
    trivia: &["haddock"],
    expression_statements: &["exp"],
    lists: &[
        "alternatives",
        "binding_list",
        "class_declarations",
        "data_constructors",
        "declarations",
        "guards",
        "imports",
        "instance_declarations",
        "local_binds",
        "patterns",
        "qualifiers",
        "type_params",
        "type_patterns",
    ],
    strings: &["string", "char"],
    reserved: &[
        "class", "data", "deriving", "import", "in", "infix", "infixl", "infixr", "instance",
        "module", "newtype", "of", "then", "type", "where",
    ],
    reserved_kinds: &["variable"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
