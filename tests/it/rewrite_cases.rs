//! Every line of `testdata/syntax/LANGUAGE/rewrite.jsonl` is a rewrite case (R57, R62, D11, D13, D16).
//!
//! A line holds `id`, `pattern`, `rewrite`, `source` and `expected_output`: the whole file after the edit
//! was accepted, or `<rejected>` (an error, and nothing staged), or `<warned>` (a proposal that warns). An
//! output equal to the source means that nothing is replaced.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolbox::cancel::Cancel;
use toolbox::files::ContentHash;
use toolbox::syntax::rewrite::{Rewrite, Rewritten};
use toolbox::syntax::search::{Query, Searcher};
use toolbox::syntax::{Context, Grammars, Language, SyntaxError, languages};

/// Works one case out in a folder of its own, with the file's language read from its name.
fn rewrite(
    grammars: &Grammars,
    row: &Language,
    case: &Value,
    source: &str,
) -> Result<Result<Rewritten, SyntaxError>, String> {
    let folder = tempfile::tempdir().map_err(|err| err.to_string())?;
    let root = folder
        .path()
        .canonicalize()
        .map_err(|err| err.to_string())?;
    let path = root.join(format!("case.{}", row.extensions[0]));
    fs::write(&path, source).map_err(|err| err.to_string())?;
    let text = |key: &str| case[key].as_str().ok_or_else(|| format!("no {key}"));
    let rewrite = Rewrite {
        query: Query {
            language: Some(row.id.to_owned()),
            context: case["context"].as_str().and_then(Context::parse),
            ..Query::new(text("pattern")?)
        },
        template: text("rewrite")?.to_owned(),
        allow_syntax_errors: false,
    };
    let searcher = Searcher {
        grammars,
        root: &root,
        cache: None,
        full_parse: false,
    };
    let res = searcher.rewrite(&rewrite, &Cancel::new());
    if fs::read_to_string(&path).ok().as_deref() != Some(source) {
        return Err("the file was changed by a proposal".to_owned());
    }
    if let Ok(rewritten) = &res {
        let hash = ContentHash::of(source.as_bytes());
        if rewritten.files.iter().any(|file| file.hash_before != hash) {
            return Err("the proposal was made for another content".to_owned());
        }
    }
    Ok(res)
}

/// Runs one case; what is wrong with it, in words.
fn check(grammars: &Grammars, row: &Language, case: &Value) -> Result<(), String> {
    let source = case["source"].as_str().ok_or("no source")?;
    let expected = case["expected_output"]
        .as_str()
        .ok_or("no expected_output")?;
    let rewritten = match (rewrite(grammars, row, case, source)?, expected) {
        (Err(_), "<rejected>") => return Ok(()),
        (Err(error), _) => return Err(error.to_string()),
        (Ok(rewritten), _) => rewritten,
    };
    let report = &rewritten.report;
    let output = match rewritten.files.as_slice() {
        [] => source.to_owned(),
        [file] => String::from_utf8_lossy(&file.bytes_after).into_owned(),
        files => return Err(format!("{} files", files.len())),
    };
    match expected {
        "<rejected>" => Err(format!("was not rejected: {output:?}")),
        "<warned>" if report.warnings.is_empty() => Err(format!("no warning: {output:?}")),
        "<warned>" => Ok(()),
        _ if output != expected => Err(format!("{output:?}, not {expected:?}")),
        _ if (report.replacements == 0) != (output == source) => Err(format!(
            "{} replacements reported for {output:?}",
            report.replacements
        )),
        _ => Ok(()),
    }
}

fn cases() -> Vec<(&'static Language, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/syntax");
    let mut cases = Vec::new();
    for row in languages::ALL {
        let file: PathBuf = root.join(row.id).join("rewrite.jsonl");
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let case = serde_json::from_str(line)
                .unwrap_or_else(|err| panic!("{}: {err}: {line}", file.display()));
            cases.push((*row, case));
        }
    }
    cases
}

#[test]
fn every_rewrite_case_of_every_language_holds() {
    let grammars = Grammars::bundled();
    let cases = cases();
    // A folder that moved must not pass for a folder without cases.
    assert!(cases.len() >= 10, "{} cases", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(row, case)| {
            let why = check(&grammars, row, case).err()?;
            Some(format!("{} {}: {why}", row.id, case["id"]))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases fail:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

// The checker itself must see each kind of fault.
#[test]
fn a_wrong_expectation_fails() {
    let grammars = Grammars::bundled();
    let row = languages::by_name("javascript").expect("it is always built");
    let case = |expected: &str| {
        serde_json::json!({
            "pattern": "ping($A)", "rewrite": "pong($A)", "source": "ping(1);",
            "expected_output": expected,
        })
    };
    assert_eq!(check(&grammars, row, &case("pong(1);")), Ok(()));
    for expected in ["ping(1);", "pong(2);", "<rejected>", "<warned>"] {
        assert!(
            check(&grammars, row, &case(expected)).is_err(),
            "{expected}"
        );
    }
}
