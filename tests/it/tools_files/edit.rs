//! `Edit`: exact, unique or everywhere, all or none, and only on what the run has seen.

use super::*;

fn one(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}

// R145: one edit; data as the interface page has it.
#[test]
fn a_text_is_replaced() {
    let bench = Bench::new(&[("a.toml", "x = 1\ny = 1\n")]);
    bench.read("a.toml");
    let output = bench.call("Edit", one("a.toml", "x = 1", "x = 2"));
    assert_eq!(bench.text("a.toml"), "x = 2\ny = 1\n");
    assert_eq!(
        output.text,
        "modified a.toml\n\n--- a/a.toml\n+++ b/a.toml\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n y = 1\n"
    );
    assert_eq!(
        output.data["files"],
        json!([{"file": "a.toml", "change": "modified"}])
    );
    assert!(
        output.data["diff"]
            .as_str()
            .is_some_and(|diff| diff.contains("+x = 2"))
    );
    // The run knows what it wrote: no second Read is needed.
    bench.call("Edit", one("a.toml", "x = 2", "x = $1\\n"));
    assert_eq!(bench.text("a.toml"), "x = $1\\n\ny = 1\n");
}

// D35: Edit refuses a file that was never read in this run, and one that changed since.
#[test]
fn only_what_the_run_has_seen_is_edited() {
    let bench = Bench::new(&[("a", "1 2\n")]);
    let error = bench.refuses(
        "Edit",
        one("a", "1", "3"),
        ErrorKind::Stale,
        "a was not read in this run",
    );
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("Read it first"))
    );
    // A part counts as read.
    bench.call("Read", json!({"path": "a", "limit": 1}));
    bench.place.write("a", "1 2 4\n");
    bench.refuses(
        "Edit",
        one("a", "1", "3"),
        ErrorKind::Stale,
        "changed on disk",
    );
    bench.read("a");
    bench.call("Edit", one("a", "1", "3"));
    assert_eq!(bench.text("a"), "3 2 4\n");
    // The same content again is no change, whatever its time.
    bench.place.write("a", "3 2 4\n");
    bench.call("Edit", one("a", "3", "5"));
    // One way to a file is as good as another.
    std::os::unix::fs::symlink("a", bench.path("link")).expect("a link");
    bench.call("Edit", one("link", "5", "6"));
    assert_eq!(bench.text("a"), "6 2 4\n");
}

// D35: a run of one command takes the file as it is when the call starts.
#[test]
fn a_run_of_one_command_needs_no_read() {
    let bench = Bench::with(&[("a", "1\n")], FileResources::one_shot);
    bench.call("Edit", one("a", "1", "2"));
    assert_eq!(bench.text("a"), "2\n");
}

// R145: unique unless replace_all; both at one place and at several.
#[test]
fn several_places_need_replace_all() {
    let bench = Bench::new(&[("a", "f\ng\nf\n")]);
    bench.read("a");
    let error = bench.refuses(
        "Edit",
        one("a", "f", "h"),
        ErrorKind::InvalidArgs,
        "2 places: lines 1, 3",
    );
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("replace_all"))
    );
    let all = json!({"path": "a", "old_string": "f", "new_string": "h", "replace_all": true});
    let output = bench.call("Edit", all);
    assert!(
        output.text.contains("note: 2 places were replaced"),
        "{}",
        output.text
    );
    assert_eq!(bench.text("a"), "h\ng\nh\n");
    let none = json!({"path": "a", "old_string": "f", "new_string": "h", "replace_all": true});
    bench.refuses("Edit", none, ErrorKind::NotFound, "not in the file");
}

// R145: several edits in one call, all or none, each in the result of the former.
#[test]
fn several_edits_are_made_or_none() {
    let bench = Bench::new(&[("a", "one two\n")]);
    bench.read("a");
    let edits = |list: &[(&str, &str)]| {
        let edits: Vec<Value> = list
            .iter()
            .map(|(old, new)| json!({"old_string": old, "new_string": new}))
            .collect();
        json!({"path": "a", "edits": edits})
    };
    let failing = edits(&[("one", "1"), ("three", "3")]);
    bench.refuses(
        "Edit",
        failing,
        ErrorKind::NotFound,
        "edit 2 of 2: the old text is not in the file",
    );
    bench.call("Edit", edits(&[("one", "1"), ("1 two", "1 2")]));
    assert_eq!(bench.text("a"), "1 2\n");
}

// R145: arguments that do not fit each other say which do.
#[test]
fn arguments_that_do_not_fit_are_refused() {
    let bench = Bench::new(&[("a", "x\n")]);
    bench.read("a");
    let edit = json!({"old_string": "x", "new_string": "y"});
    for (args, words) in [
        (json!({"path": "a"}), "nothing to edit"),
        (
            json!({"path": "a", "old_string": "x"}),
            "new_string is missing",
        ),
        (
            json!({"path": "a", "new_string": "x"}),
            "old_string is missing",
        ),
        (json!({"path": "a", "edits": []}), "edits is empty"),
        (
            json!({"path": "a", "edits": [edit], "old_string": "x"}),
            "exclude each other",
        ),
        (
            json!({"path": "a", "edits": [edit], "replace_all": true}),
            "belongs to each",
        ),
        (
            json!({"path": "a", "edits": [{"old": "x"}]}),
            "unknown field `old`",
        ),
        (one("a", "", "y"), "the old text is empty"),
        (one("a", "x", "x"), "the same"),
    ] {
        bench.refuses("Edit", args, ErrorKind::InvalidArgs, words);
    }
}

// D35, and a complaint about others: a CRLF file is edited with LF texts and stays CRLF throughout.
#[test]
fn crlf_mark_and_missing_newline_survive() {
    let bench = Bench::new(&[("a", "\u{FEFF}a\r\nb\r\nc")]);
    bench.read("a");
    bench.call("Edit", one("a", "a\nb", "x\ny  \nz"));
    assert_eq!(bench.bytes("a"), b"\xEF\xBB\xBFx\r\ny  \r\nz\r\nc");
    bench.call("Edit", one("a", "c", "d"));
    assert_eq!(bench.bytes("a"), b"\xEF\xBB\xBFx\r\ny  \r\nz\r\nd");
}

// R145: what is nearly right is named, so that the next call can be.
#[test]
fn near_misses_are_named() {
    let bench = Bench::new(&[("a", "def f():\n\treturn 1\n")]);
    bench.read("a");
    let args = one("a", "def f():\n    return 1", "x");
    let error = bench.refuses(
        "Edit",
        args,
        ErrorKind::NotFound,
        "line 2 differs only in the spaces",
    );
    assert!(error.message().contains("\\treturn 1"), "{error}");
    bench.refuses(
        "Edit",
        one("b", "x", "y"),
        ErrorKind::NotFound,
        "no file 'b'",
    );
    bench.place.write("latin", b"caf\xE9");
    bench.refuses("Edit", one("latin", "c", "d"), ErrorKind::Stale, "not read");
}

// Edits of one file at once are all made, one after the other.
#[test]
fn edits_at_once_are_all_made() {
    let text: String = (0..8).map(|n| format!("<{n}>\n")).collect();
    let bench = Bench::new(&[("a", &text)]);
    bench.read("a");
    std::thread::scope(|scope| {
        for n in 0..8 {
            let bench = &bench;
            let args = one("a", &format!("<{n}>"), &format!("[{n}]"));
            scope.spawn(move || bench.call("Edit", args));
        }
    });
    let expected: String = (0..8).map(|n| format!("[{n}]\n")).collect();
    assert_eq!(bench.text("a"), expected);
}
