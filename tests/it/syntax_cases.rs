//! Every line of `testdata/syntax/LANGUAGE/*.jsonl` is a match or non-match case (R43 to R56).
//!
//! A line holds `id`, `pattern`, `source`, `expected_count` (null with `"expect":"unparseable"`), and
//! optionally `context`, `bindings` (per match: `NAME` or `$$$NAME` to text) and `texts` (per match).
//! A line with count zero is the non-match twin of one with a count.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolbox::syntax::text::find_in;
use toolbox::syntax::{Context, Grammars, SyntaxError, languages, pattern};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/syntax")
}

/// Runs one case; what is wrong with it, in words.
fn check(grammars: &Grammars, language: &str, case: &Value) -> Result<(), String> {
    let row = languages::by_name(language).ok_or_else(|| format!("no language {language}"))?;
    let grammar = grammars.grammar(row);
    let source = case["source"].as_str().ok_or("no source")?;
    let text = case["pattern"].as_str().ok_or("no pattern")?;
    let context = match case["context"].as_str() {
        None => None,
        Some(name) => Some(Context::parse(name).ok_or_else(|| format!("no context {name}"))?),
    };
    let compiled = match pattern::compile(grammar, text, context) {
        Ok(compiled) => compiled,
        Err(SyntaxError::Unparseable { .. }) if case["expect"] == "unparseable" => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let mut reading = &compiled.pattern;
    let mut found = Vec::new();
    for pattern in compiled.readings() {
        found = find_in(grammar, pattern, source.as_bytes()).map_err(|e| e.to_string())?;
        reading = pattern;
        if !found.is_empty() {
            break;
        }
    }
    let read_as = format!("as {} {}", reading.context, reading.kind);
    if case["expect"] == "unparseable" {
        return Err(format!("was taken {read_as}"));
    }
    let texts: Vec<&str> = found.iter().map(|f| &source[f.range.clone()]).collect();
    if Some(found.len() as u64) != case["expected_count"].as_u64() {
        return Err(format!(
            "{read_as}: {} matches, not {}: {texts:?}",
            found.len(),
            case["expected_count"]
        ));
    }
    if let Some(expected) = case["texts"].as_array() {
        let expected: Vec<&str> = expected.iter().filter_map(Value::as_str).collect();
        if expected != texts {
            return Err(format!("{read_as}: texts {texts:?}, not {expected:?}"));
        }
    }
    for (found, expected) in found
        .iter()
        .zip(case["bindings"].as_array().into_iter().flatten())
    {
        for (name, text) in expected.as_object().into_iter().flatten() {
            let bound = match name.strip_prefix("$$$") {
                Some(run) => found.runs.get(run),
                None => found.captures.get(name.as_str()),
            };
            if bound.map(String::as_str) != text.as_str() {
                return Err(format!("{read_as}: {name} is {bound:?}, not {text}"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_case_of_every_language_holds() {
    let grammars = Grammars::bundled();
    let only = option_env!("TOOLBOX_CASES").map(str::to_owned);
    let mut wrong = Vec::new();
    for row in languages::ALL {
        if only.as_deref().is_some_and(|o| o != row.id) {
            continue;
        }
        let folder = testdata().join(row.id);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .map(|d| d.flatten().map(|e| e.path()).collect())
            .unwrap_or_default();
        files.retain(|f: &PathBuf| {
            let name = f.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".jsonl") && !name.starts_with("rewrite")
        });
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("test data is readable");
            for line in text.lines().filter(|l| !l.trim().is_empty()) {
                let case: Value = match serde_json::from_str(line) {
                    Ok(case) => case,
                    Err(e) => {
                        wrong.push(format!("{}: {e}: {line}", file.display()));
                        continue;
                    }
                };
                if let Err(why) = check(&grammars, row.id, &case) {
                    wrong.push(format!(
                        "{} {}: {} {why}",
                        row.id, case["id"], case["pattern"]
                    ));
                }
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
