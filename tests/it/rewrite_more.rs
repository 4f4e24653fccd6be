//! Every line of `testdata/syntax/LANGUAGE/rewrite_more.jsonl` is a rewrite that must come out exactly
//! (R57 to R60, D11, D13, D16).
//!
//! A line holds `id`, `pattern`, `rewrite`, `source`, `why`, optionally `context`, and
//! `expected_output`: the new text, `<rejected>` for a refusal, or `<warned>` for a proposal with a
//! warning. With `output` and `warned` a proposal must both come out so and warn.

use std::path::Path;

use serde_json::Value;
use toolbox::cancel::Cancel;
use toolbox::syntax::rewrite::Rewrite;
use toolbox::syntax::search::{Query, Searcher};
use toolbox::syntax::{Context, Grammars, languages};

/// Runs one case; what is wrong with it, in words.
fn check(grammars: &Grammars, language: &str, case: &Value) -> Result<(), String> {
    let row = languages::by_name(language).ok_or("no such language")?;
    let text = |key: &str| case[key].as_str().ok_or(format!("no {key}"));
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = text("source")?;
    let file = folder.path().join(format!("a.{}", row.extensions[0]));
    std::fs::write(&file, source).map_err(|e| e.to_string())?;
    let mut query = Query::new(text("pattern")?);
    query.language = Some(language.to_owned());
    query.context = case["context"].as_str().and_then(Context::parse);
    let rewrite = Rewrite {
        query,
        template: text("rewrite")?.to_owned(),
        allow_syntax_errors: false,
    };
    let searcher = Searcher {
        grammars,
        root: folder.path(),
        cache: None,
        full_parse: false,
    };
    let expected = text("expected_output")?;
    let rewritten = match searcher.rewrite(&rewrite, &Cancel::new()) {
        Err(_) if expected == "<rejected>" => return Ok(()),
        Err(error) => return Err(format!("was refused: {error}")),
        Ok(rewritten) => rewritten,
    };
    let read_as = format!("as {} {}", rewritten.report.context, rewritten.report.kind);
    let new = match rewritten.files.first() {
        Some(file) => String::from_utf8_lossy(&file.bytes_after).into_owned(),
        None => source.to_owned(),
    };
    if expected == "<rejected>" {
        return Err(format!("{read_as}: was not refused: {new:?}"));
    }
    let warnings = &rewritten.report.warnings;
    let warned = expected == "<warned>" || case["warned"] == true;
    if warned == warnings.is_empty() {
        return Err(format!("{read_as}: warnings {warnings:?}: {new:?}"));
    }
    if expected != "<warned>" && new != expected {
        return Err(format!("{read_as}:\n  got  {new:?}\n  want {expected:?}"));
    }
    let n_changed = usize::from(new != source);
    if rewritten.files.len() != n_changed || rewritten.report.files != n_changed {
        return Err("a file without a change is no replacement".to_owned());
    }
    Ok(())
}

#[test]
fn every_rewrite_comes_out_exactly() {
    let grammars = Grammars::bundled();
    let mut wrong = Vec::new();
    for (language, at_least) in [
        ("rust", 12),
        ("python", 12),
        ("javascript", 12),
        ("c", 12),
        ("dart", 12),
        ("elixir", 2),
        ("go", 1),
        ("java", 1),
        ("kotlin", 4),
        ("lua", 2),
        ("php", 1),
        ("ruby", 3),
        ("scala", 2),
        ("solidity", 1),
        ("swift", 4),
        ("typescript", 4),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("testdata/syntax")
            .join(language)
            .join("rewrite_more.jsonl");
        let text = std::fs::read_to_string(&file).expect("test data is readable");
        let cases: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        assert!(cases.len() >= at_least, "{language}");
        for line in cases {
            let outcome = serde_json::from_str(line)
                .map_err(|e| e.to_string())
                .and_then(|case| check(&grammars, language, &case));
            if let Err(why) = outcome {
                let id = line.split('"').nth(3).unwrap_or("?");
                wrong.push(format!("{language} {id}: {why}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases fail:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
