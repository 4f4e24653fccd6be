//! The grammar: what is read, what is tolerated, and what each error says.

use super::*;

#[track_caller]
fn parsed(text: &str) -> Vec<FilePatch> {
    match parse(text) {
        Ok(patch) => patch.files,
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[track_caller]
fn fails(text: &str, words: &str) {
    let error = parse(text).expect_err("it fails").to_string();
    assert!(error.contains(words), "{error} lacks {words}");
}

fn update(path: &str, moved_to: Option<&str>, chunks: Vec<Chunk>) -> FilePatch {
    FilePatch::Update {
        path: path.to_owned(),
        moved_to: moved_to.map(str::to_owned),
        chunks,
    }
}

fn chunk(patch_line: usize, contexts: &[&str], lines: &[&str]) -> Chunk {
    let line = |line: &&str| {
        let text = line[1..].to_owned();
        match line.as_bytes()[0] {
            b'+' => ChunkLine::Add(text),
            b'-' => ChunkLine::Remove(text),
            _ => ChunkLine::Context(text),
        }
    };
    Chunk {
        patch_line,
        contexts: contexts
            .iter()
            .map(|context| (*context).to_owned())
            .collect(),
        lines: lines.iter().map(line).collect(),
        end_of_file: false,
    }
}

#[test]
fn every_form_is_read() {
    let text = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n*** Delete File: c\n\
                *** Update File: d\n*** Move to: e\n@@ def f():\n x\n-y\n+z\n@@\n-w\n*** End of File\n\
                *** End Patch\n";
    let mut last = chunk(12, &[], &["-w"]);
    last.end_of_file = true;
    assert_eq!(
        parsed(text),
        [
            FilePatch::Add {
                path: "a b.txt".to_owned(),
                text: "one\n\n".to_owned()
            },
            FilePatch::Delete {
                path: "c".to_owned()
            },
            update(
                "d",
                Some("e"),
                vec![chunk(8, &["def f():"], &[" x", "-y", "+z"]), last]
            ),
        ]
    );
}

#[test]
fn what_the_original_tolerates_is_tolerated() {
    let plain = "*** Begin Patch\n*** Update File: d\n@@\n-a\n+b\n*** End Patch";
    let expected = |line| vec![update("d", None, vec![chunk(line, &[], &["-a", "+b"])])];
    assert_eq!(parsed(plain), expected(3));
    assert_eq!(parsed(&format!("\n\n{plain}\n\n")), expected(5));
    for quote in ["<<EOF", "<<'EOF'", "<<\"EOF\""] {
        assert_eq!(parsed(&format!("{quote}\n{plain}\nEOF\n")), expected(4));
    }
    assert_eq!(parsed(&plain.replace('\n', "\r\n")), expected(3));
    assert_eq!(
        parsed(
            &plain
                .replace("*** Update", "  *** Update")
                .replace("***", "*** ")
                .replace("***  ", "*** ")
        ),
        expected(3)
    );
    // The first change may come without `@@`, an empty line is an empty context line.
    let bare = "*** Begin Patch\n*** Update File: d\n-a\n\n+b\n*** End Patch";
    assert_eq!(
        parsed(bare),
        [update("d", None, vec![chunk(3, &[], &["-a", " ", "+b"])])]
    );
    let blank = "*** Begin Patch\n*** Update File: d\n\n@@\n-a\n+b\n*** End Patch";
    assert_eq!(parsed(blank), expected(4));
    let added = "*** Begin Patch\n*** Add File: d\n*** End Patch";
    assert!(matches!(&parsed(added)[..], [FilePatch::Add { text, .. }] if text.is_empty()));
}

#[test]
fn more_is_tolerated_than_in_the_original() {
    let stacked = "*** Begin Patch\n*** Update File: d\n@@ class A\n@@ def f\n-a\n*** End Patch";
    assert_eq!(
        parsed(stacked),
        [update(
            "d",
            None,
            vec![chunk(3, &["class A", "def f"], &["-a"])]
        )]
    );
    for (header, contexts) in [
        ("@@ -1,2 +3,4 @@", &[][..]),
        ("@@ -1 +1 @@ fn f()", &["fn f()"]),
        ("@@ a @@ b", &["a @@ b"]),
    ] {
        let text = format!("*** Begin Patch\n*** Update File: d\n{header}\n-a\n*** End Patch");
        assert_eq!(
            parsed(&text),
            [update("d", None, vec![chunk(3, contexts, &["-a"])])]
        );
    }
    let moved = "*** Begin Patch\n*** Update File: d\n*** Move to: e\n*** End Patch";
    assert_eq!(parsed(moved), [update("d", Some("e"), Vec::new())]);
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let wrapped = |body: &str| format!("*** Begin Patch\n{body}\n*** End Patch");
    fails("", "the first line of the patch must be '*** Begin Patch'");
    fails(
        "bad\n*** End Patch",
        "the first line of the patch must be '*** Begin Patch'",
    );
    fails(
        "*** Begin Patch\nbad",
        "the last line of the patch must be '*** End Patch'",
    );
    fails(
        "*** Begin Patch",
        "the last line of the patch must be '*** End Patch'",
    );
    fails("<<EOF\n*** Begin Patch\nEOF", "'*** Begin Patch'");
    fails("*** Begin Patch\n*** End Patch", "no files were modified");
    fails(
        &wrapped("hello"),
        "line 2: 'hello' is not a valid hunk header",
    );
    fails(
        &wrapped("*** Add File: a\nno plus"),
        "line 3: 'no plus' is not a valid hunk header",
    );
    fails(
        &wrapped("*** Update File: a"),
        "update file hunk for path 'a' is empty",
    );
    fails(&wrapped("*** Delete File: "), "line 2: the path is missing");
    fails(
        &wrapped("*** Update File: a\n@@"),
        "line 3: update hunk does not contain any lines",
    );
    fails(
        &wrapped("*** Update File: a\n@@\n*** End of File"),
        "does not contain any lines",
    );
    fails(
        &wrapped("*** Update File: a\n@@\nbad"),
        "line 4: unexpected line found in update hunk: 'bad'",
    );
    fails(
        &wrapped("*** Update File: a\n@@\n-a\nbad"),
        "line 5: expected update hunk to start with a @@ context marker, got: 'bad'",
    );
}

proptest::proptest! {
    // Any text is a patch or an error.
    #[test]
    fn parsing_never_panics(
        pieces in proptest::collection::vec(proptest::sample::select(vec![
            "*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Add File:", "*** Delete File: b",
            "*** Update File: c", "*** Move to: d", "*** Move to:", "@@", "@@ x", "@@ -1 +1 @@", "+a", "-a",
            " a", "", "é", "*** End of File", "***", "<<EOF", "EOF", "\r", "\u{A0}",
        ]), 0..14),
        framed in proptest::bool::ANY,
    ) {
        let body = pieces.join("\n");
        let text = match framed {
            true => format!("*** Begin Patch\n{body}\n*** End Patch"),
            false => body,
        };
        let _ = parse(&text);
    }
}
