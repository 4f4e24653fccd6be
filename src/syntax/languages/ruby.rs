//! Ruby: bodies with rescue clauses, calls without parentheses.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "ruby",
    aliases: &["rb", "jruby"],
    extensions: &["rb", "rake", "gemspec", "ru", "rbw", "podspec", "jbuilder"],
    file_names: &[
        "Rakefile",
        "Gemfile",
        "Guardfile",
        "Capfile",
        "Vagrantfile",
        "Podfile",
        "Brewfile",
        "Fastfile",
    ],
    interpreters: &["ruby", "jruby", "rake", "macruby"],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        // `"key" => value` is a pair far more often than a pattern match.
        Rung::new(Context::Statement, "def zs\n", "\nend").not(&[
            "rescue",
            "ensure",
            "else",
            "match_pattern",
        ]),
        // A pair is an argument too, and stands here because `key: value` would pass for a parameter.
        Rung::new(Context::Expression, "zf(", "\n)"),
        Rung::new(Context::ClassMember, "class Zs\n", "\nend").not(&[
            "rescue",
            "ensure",
            "else",
            "match_pattern",
        ]),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Parameter, "def zs(", "\n) end").only(&[
            "identifier",
            "optional_parameter",
            "keyword_parameter",
            "splat_parameter",
            "hash_splat_parameter",
            "block_parameter",
            "destructured_parameter",
        ]),
        Rung::new(Context::MatchArm, "case zs\n", "\nend").only(&["when", "in_clause"]),
        Rung::new(Context::MatchArm, "begin\nzs\n", "\nend").only(&["rescue", "ensure"]),
        Rung::new(Context::ObjectMember, "zs = {", "\n}").only(&["pair", "hash_splat_argument"]),
    ],
    // A constant stands nearly everywhere, also where a lower-case name is no class or namespace.
    forms: &[
        "Z{}",
        "{}",
        "\"{}\"",
        "{}: {}",
        "when {} then {}",
        "in {} then {}",
        "rescue Z{}",
    ],
    terminator: None,
    terminator_optional: true,
    separators: &[",", ";"],
    comment_starts: &["#", "=begin"],
    trivia: &[],
    expression_statements: &[],
    lists: &[
        "body_statement",
        "block_body",
        "then",
        "argument_list",
        "exceptions",
        "left_assignment_list",
        "right_assignment_list",
        "method_parameters",
        "lambda_parameters",
    ],
    strings: &[
        "string",
        "regex",
        "subshell",
        "delimited_symbol",
        "heredoc_body",
        "string_array",
        "symbol_array",
    ],
    loose: &[
        "program",
        "body_statement",
        "block_body",
        "then",
        "do",
        "begin",
        "else",
        "ensure",
        "parenthesized_statements",
    ],
    clauses: &["rescue", "ensure", "else", "elsif"],
    reserved: &[
        "when", "in", "then", "else", "elsif", "ensure", "rescue", "class", "module", "def", "if",
        "unless", "while", "until", "case", "begin", "end", "do", "for", "and", "or", "not",
    ],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
