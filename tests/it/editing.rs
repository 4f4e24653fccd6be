//! What holds for any text: edits leave every other byte alone, patches rebuild what they were made of, and
//! what fails changes nothing. The seeds are fixed, so a failure comes back.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use toolbox::editing::patch::{FilePatch, apply, parse, prepare};
use toolbox::editing::replace::{Edit, ReplaceReason, Scope, replace};
use toolbox::workspace::Workspace;

use crate::files_support::{Place, tree};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_global_rejects: 100_000,
        rng_seed: RngSeed::Fixed(35),
        ..ProptestConfig::default()
    }
}

/// A text of short lines with either ending, so that parts of it occur again.
fn any_text() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a", "b", "ab", " ", "é", "\t", "\n", "\r\n", "\n", "$1", "\\",
    ]);
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Counts the places of a text in another, those that overlap too.
fn count(text: &str, wanted: &str) -> usize {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter(|&at| text[at..].starts_with(wanted)).count()
}

/// What becomes of one line of a file.
#[derive(Clone, Debug)]
enum Fate {
    Stays,
    Goes,
    Becomes(String),
    Gets(String),
}

fn any_fate() -> impl Strategy<Value = Fate> {
    let line = "[a-z é–]{0,3}";
    prop_oneof![
        4 => Just(Fate::Stays),
        1 => Just(Fate::Goes),
        1 => line.prop_map(Fate::Becomes),
        1 => line.prop_map(Fate::Gets),
    ]
}

/// A file, its patch and the file that the patch makes of it.
#[derive(Clone, Debug)]
struct Case {
    before: String,
    chunks: String,
    after: String,
}

/// Makes the patch of a change, with so many unchanged lines around each part of it.
fn case(fates: &[Fate], n_context: usize, ending: &str, ended: bool) -> Case {
    // Every line is the only one of its kind, so that each place is sure.
    let old: Vec<String> = (0..fates.len()).map(|n| format!("line {n}")).collect();
    let mut new = Vec::new();
    let mut rows: Vec<(char, String)> = Vec::new();
    for (line, fate) in old.iter().zip(fates) {
        match fate {
            Fate::Stays => rows.push((' ', line.clone())),
            Fate::Goes => rows.push(('-', line.clone())),
            Fate::Becomes(other) => rows.extend([('-', line.clone()), ('+', other.clone())]),
            Fate::Gets(more) => rows.extend([(' ', line.clone()), ('+', more.clone())]),
        }
    }
    new.extend(
        rows.iter()
            .filter(|(mark, _)| *mark != '-')
            .map(|(_, text)| text.clone()),
    );
    let changed: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].0 != ' ').collect();
    let near = |at: usize| {
        changed
            .iter()
            .any(|&change| change.abs_diff(at) <= n_context)
    };
    let mut chunks = String::new();
    let mut open = false;
    for (at, (mark, text)) in rows.iter().enumerate() {
        // Added lines alone would go to the end: the line before always comes along.
        let leads = rows.get(at + 1).is_some_and(|(mark, _)| *mark == '+');
        if !near(at) && !leads {
            open = false;
            continue;
        }
        if !open {
            chunks.push_str("@@\n");
            open = true;
        }
        chunks.push_str(&format!("{mark}{text}\n"));
    }
    let joined = |lines: &[String]| {
        let mut text = lines.join(ending);
        // A single line without an end does not tell how lines end in its file.
        if (ended || old.len() == 1) && !lines.is_empty() {
            text.push_str(ending);
        }
        text
    };
    Case {
        before: joined(&old),
        chunks,
        after: joined(&new),
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let ending = select(vec!["\n", "\r\n"]);
    (vec(any_fate(), 1..14), 0..4_usize, ending, any::<bool>())
        .prop_map(|(fates, n_context, ending, ended)| case(&fates, n_context, ending, ended))
        .prop_filter("nothing changes", |case| !case.chunks.is_empty())
        // A file without lines cannot say that its last line has no end.
        .prop_filter("nothing is left", |case| !case.after.is_empty())
}

fn patch_of(files: &[(&str, &Case)]) -> String {
    let mut text = "*** Begin Patch\n".to_owned();
    for (name, case) in files {
        text.push_str(&format!("*** Update File: {name}\n{}", case.chunks));
    }
    text + "*** End Patch\n"
}

proptest! {
    #![proptest_config(config(2_000))]

    // R145, D35: a part of a text is found there, and no byte outside it changes.
    #[test]
    fn edits_leave_every_other_byte_alone(
        text in any_text(),
        new in any_text(),
        (from, to) in (any::<proptest::sample::Index>(), any::<proptest::sample::Index>()),
        crlf in any::<bool>(),
    ) {
        let bounds: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
        let (one, other) = (*from.get(&bounds), *to.get(&bounds));
        let (start, end) = (one.min(other), one.max(other));
        let cut = &text[start..end];
        // Half a line ending is no text that anybody means.
        prop_assume!(start < end && !cut.ends_with('\r') && !cut.starts_with('\n'));
        let old = if crlf { cut.to_owned() } else { plain(cut) };
        let edit = Edit { old: &old, new: &new, scope: Scope::Unique };
        match replace(&text, &[edit]) {
            Ok(replaced) => {
                prop_assert_eq!(replaced.counts, [1]);
                let result = replaced.text;
                prop_assert!(result.starts_with(&text[..start]) && result.ends_with(&text[end..]));
                let middle = &result[start..result.len() - (text.len() - end)];
                prop_assert_eq!(plain(middle), plain(&new));
                if !text.contains("\r\n") {
                    prop_assert!(!middle.contains("\r\n") || !text.contains('\n'));
                } else if !plain(&text).eq(&text.replace("\r\n", "")) && !text.replace("\r\n", "").contains('\n') {
                    prop_assert!(!middle.replace("\r\n", "").contains('\n'));
                }
            }
            Err(error) => match error.reason {
                ReplaceReason::Ambiguous { n_places, .. } => {
                    if !old.contains('\r') {
                        prop_assert_eq!(n_places, count(&plain(&text), &old));
                    }
                    prop_assert!(n_places > 1);
                }
                ReplaceReason::Same => prop_assert_eq!(plain(&old), plain(&new)),
                reason => prop_assert!(false, "{} in {:?}: {}", old, text, reason),
            },
        }
    }

    // R145: replacing everywhere is what replacing in the plain text is.
    #[test]
    fn edits_everywhere_change_every_place(text in any_text(), old in any_text(), new in any_text()) {
        let old = plain(&old);
        let edit = Edit { old: &old, new: &new, scope: Scope::All };
        match replace(&text, &[edit]) {
            Ok(replaced) => {
                prop_assert_eq!(plain(&replaced.text), plain(&text).replace(&old, &plain(&new)));
            }
            Err(error) => match error.reason {
                ReplaceReason::EmptyOld => prop_assert_eq!(old, ""),
                ReplaceReason::Same => prop_assert_eq!(old, plain(&new)),
                ReplaceReason::NotFound { .. } => prop_assert!(!plain(&text).contains(&old)),
                reason => prop_assert!(false, "{}", reason),
            },
        }
    }

    // A patch of a change, applied, is that change, whatever the endings.
    #[test]
    fn a_patch_rebuilds_what_it_was_made_of(case in any_case()) {
        let text = patch_of(&[("f", &case)]);
        let patch = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let [FilePatch::Update { chunks, .. }] = &patch.files[..] else {
            return Err(TestCaseError::fail("one file"));
        };
        let applied = apply(&case.before, chunks)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(applied.text, case.after, "{}", text);
        prop_assert!(applied.fuzzy.is_empty());
    }
}

proptest! {
    #![proptest_config(config(200))]

    // A patch one of whose files does not fit changes none of them: nothing even becomes an operation.
    #[test]
    fn a_patch_that_fails_changes_nothing(
        cases in vec(any_case(), 1..4),
        spoilt in any::<proptest::sample::Index>(),
    ) {
        let place = Place::new();
        let names = ["a", "b/c", "d"];
        let files: Vec<(&str, &Case)> = names.into_iter().zip(&cases).collect();
        for (name, case) in &files {
            place.write(name, &case.before);
        }
        let workspace = Workspace::open(&place.work()).expect("the folder exists");
        let before = tree(&place.work());
        let whole = parse(&patch_of(&files)).expect("a patch");
        let prepared = prepare(&whole, &workspace, u64::MAX).expect("it fits");
        prop_assert_eq!(prepared.changes.len() + prepared.unchanged.len(), files.len());
        let (name, case) = files[spoilt.index(files.len())];
        fs::write(place.work().join(name), case.before.replace("line ", "other ")).expect("a file");
        let spoilt = tree(&place.work());
        let is_refused = prepare(&whole, &workspace, u64::MAX).is_err();
        prop_assert!(is_refused);
        prop_assert!(tree(&place.work()) == spoilt);
        prop_assert!(before.contains_key(Path::new(name)));
    }
}
