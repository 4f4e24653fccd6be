//! Messages for a person at the command line: tools name their arguments, a person types flags.
//!
//! Only what a tool says goes through here, never the source that it shows. Data and `toolbox call` keep
//! the names of arguments.

use serde_json::Value;
use toolbox::tool::{ErrorKind, Output, ToolError};

/// What a tool says, and what a person does about it. Earlier rows win over the later ones.
const WORDS: &[(&str, &str)] = &[
    (
        "pass language, one of the ids above; it is inferred only when path names files of one language",
        "add `-l ID` with one of the ids above; it is inferred only where every PATH is a file of one \
         language",
    ),
    ("pass one of these ids, or", "name one of these ids, or"),
    ("pass context to search", "`--context` searches"),
    ("leave context out", "leave `--context` out"),
    (
        "pass allow_syntax_errors to stage it as it is",
        "add `--allow-syntax-errors` to stage it as it is",
    ),
    ("max_results", "--max-results"),
    ("head_limit is 0", "--max-results is 0"),
    ("limit is 0: nothing", "--max-results is 0: nothing"),
    ("context_lines", "--context-lines"),
    (
        "check the path; it is relative to the workspace",
        "check the path; it is relative to the current folder",
    ),
    (
        "pass a path inside the workspace, relative to it, or leave path out to search all of it",
        "name a path inside the workspace, leave PATH out to search all of it, or name another workspace \
         with `-C DIR`",
    ),
    ("leave path out", "leave PATH out"),
    ("pass offset ", "add --offset "),
    ("pass line_chars to see", "add --line-chars N to see"),
    ("pass raw true to see", "add --raw to see"),
    ("pass no_ignore", "add `--no-ignore`"),
    ("pass hidden", "add `--hidden`"),
    ("pass multiline", "add `--multiline`"),
    ("pass fixed", "add `-F`"),
    ("pass glob", "add `-g`"),
    ("or set replace_all", "or add `--replace-all`"),
    ("run ast_edit", "run `toolbox ast-edit`"),
    (
        "give `options`, or set `allow_free_text` to true",
        "add `--option LABEL`, once for each, or `--allow-free-text`",
    ),
    (
        "and set `allow_free_text` for the rest",
        "and add `--allow-free-text` for the rest",
    ),
    (
        "spawn one with vibe_spawn",
        "start one with `toolbox vibe spawn`",
    ),
    (
        "wait for one with vibe_wait, or end one with vibe_kill",
        "wait for one with `toolbox vibe wait`, or end one with `toolbox vibe kill`",
    ),
    ("timeout_seconds is", "--timeout is"),
];

/// Arguments with a value in quotes: what a tool says before it, and the flag.
const VALUES: &[(&str, &str)] = &[("pass context \"", "--context"), ("pass language \"", "-l")];

/// Puts flags in the place of the arguments that a message names.
pub(crate) fn flags(text: &str) -> String {
    let mut spoken = text.to_owned();
    for (said, typed) in WORDS {
        spoken = spoken.replace(said, typed);
    }
    for (said, flag) in VALUES {
        while let Some((before, rest)) = spoken.split_once(said) {
            let Some((value, after)) = rest.split_once('"') else {
                break;
            };
            let value = match value.contains(' ') {
                true => format!("\"{value}\""),
                false => value.to_owned(),
            };
            spoken = format!("{before}add `{flag} {value}`{after}");
        }
    }
    spoken
}

/// The message and the hint of an error.
pub(crate) fn error(error: &ToolError) -> (String, Option<String>) {
    let (message, hint) = (error.message(), error.hint());
    if error.kind() != ErrorKind::Unparseable {
        return (flags(message), hint.map(flags));
    }
    // The rung that got furthest comes first; the others are for `--explain`.
    let marker = " code on any rung: ";
    let Some((pattern, reasons)) = message.rsplit_once(marker) else {
        return (message.to_owned(), hint.map(flags));
    };
    let furthest = reasons.split("; ").next().unwrap_or(reasons);
    let hint = hint.map(|hint| format!("{hint}; `toolbox ast-grep --explain` shows every rung"));
    (format!("{pattern} code: {furthest}"), hint)
}

/// The text of the answer of a tool.
pub(crate) fn answer(output: &Output) -> String {
    let text = &output.text;
    let mut spoken = if output.data["matches"].is_array() {
        // What a search says comes after the last blank line, behind the matches.
        let at = text.rfind("\n\n").map_or(0, |at| at + 2);
        format!("{}{}", &text[..at], flags(&text[at..]))
    } else {
        // What a rewrite says comes before the first, in front of the diff.
        let at = text.find("\n\n").unwrap_or(text.len());
        format!("{}{}", flags(&text[..at]), &text[at..])
    };
    if let Some(edit_id) = output.data["edit_id"].as_str()
        && output.data["diff_truncated"] == Value::Bool(true)
    {
        spoken.push_str(&format!("; see all of it: toolbox resolve {edit_id}"));
    }
    spoken
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_become_flags() {
        for (said, typed) in [
            ("raise max_results", "raise --max-results"),
            (
                "3 as type (t): pass context \"type\"; 1 as class member (m): pass context \"class member\"",
                "3 as type (t): add `--context type`; 1 as class member (m): add `--context \"class member\"`",
            ),
            (
                "only python here: pass language \"python\"",
                "only python here: add `-l python`",
            ),
            ("pass context \"", "pass context \""),
            ("nothing to say", "nothing to say"),
        ] {
            assert_eq!(flags(said), typed);
        }
    }

    // Every row is for something that the library says today.
    #[test]
    fn every_row_is_said_by_a_tool() {
        let sources = [
            include_str!("../../tools/read.rs"),
            include_str!("../../tools/edit.rs"),
            include_str!("../../tools/syntax.rs"),
            include_str!("../../tools/ast_grep.rs"),
            include_str!("../../tools/resolve.rs"),
            include_str!("../../tools/vibe.rs"),
            include_str!("../../tools/finding.rs"),
            include_str!("../../tools/grep.rs"),
            include_str!("../../tools/glob.rs"),
            include_str!("../../tools/ask_user.rs"),
            include_str!("../../finding/grep.rs"),
            include_str!("../../finding/glob.rs"),
            include_str!("../../syntax/report.rs"),
            include_str!("../../syntax/hint.rs"),
        ];
        // Long texts are broken over lines there.
        let squeezed = |text: &str| -> String {
            let text = text.replace("\\\n", "").replace("\\\"", "\"");
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let sources: Vec<String> = sources.iter().map(|source| squeezed(source)).collect();
        for (said, _) in WORDS.iter().chain(VALUES) {
            assert!(sources.iter().any(|source| source.contains(said)), "{said}");
        }
    }

    #[test]
    fn shown_source_is_left_alone() {
        let output = Output {
            text: "a.js\n1:raise(max_results)\n\n1 match; raise max_results".to_owned(),
            data: json!({"matches": [{}]}),
            images: Vec::new(),
        };
        assert_eq!(
            answer(&output),
            "a.js\n1:raise(max_results)\n\n1 match; raise --max-results"
        );
        let output = Output {
            text: "(proposed) run ast_edit\n\n-run ast_edit".to_owned(),
            data: json!({"edit_id": "edit_7", "diff_truncated": true}),
            images: Vec::new(),
        };
        assert_eq!(
            answer(&output),
            "(proposed) run `toolbox ast-edit`\n\n-run ast_edit; see all of it: toolbox resolve edit_7"
        );
    }
}
