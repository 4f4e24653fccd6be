//! `apply_patch`: every section, all files or none, and what of a file survives.

use std::os::unix::fs::{MetadataExt, symlink};

use super::*;
use crate::files_support::chmod;

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")})
}

// The codex grammar in one patch: Add, Delete, Update and Move, answered file by file.
#[test]
fn every_section_is_applied() {
    let bench = Bench::new(&[
        ("src/app.py", "def greet():\n    print(\"hi\")\n"),
        ("old.txt", "gone\n"),
        ("here.txt", "x\n"),
        ("changed.txt", "1\n2\n"),
    ]);
    chmod(&bench.path("changed.txt"), 0o755);
    let output = bench.call(
        "apply_patch",
        patch(
            "*** Update File: src/app.py\n@@ def greet():\n-    print(\"hi\")\n+    print(\"hello\")\n\
             *** Add File: a/new.txt\n+one\n+two\n*** Delete File: old.txt\n\
             *** Update File: here.txt\n*** Move to: b/there.txt\n\
             *** Update File: changed.txt\n*** Move to: b/moved.txt\n@@\n-2\n+3",
        ),
    );
    assert_eq!(
        bench.text("src/app.py"),
        "def greet():\n    print(\"hello\")\n"
    );
    assert_eq!(bench.text("a/new.txt"), "one\ntwo\n");
    assert_eq!(bench.text("b/there.txt"), "x\n");
    assert_eq!(bench.text("b/moved.txt"), "1\n3\n");
    let mode = bench
        .path("b/moved.txt")
        .metadata()
        .expect("it exists")
        .mode();
    assert_eq!(mode & 0o7777, 0o755);
    for gone in ["old.txt", "here.txt", "changed.txt"] {
        assert!(!bench.path(gone).exists(), "{gone}");
    }
    assert_eq!(
        output.data["files"],
        json!([
            {"file": "src/app.py", "change": "modified"},
            {"file": "a/new.txt", "change": "added"},
            {"file": "old.txt", "change": "deleted"},
            {"file": "b/there.txt", "change": "moved", "from": "here.txt"},
            {"file": "b/moved.txt", "change": "moved", "from": "changed.txt"},
        ])
    );
    assert!(
        output.text.starts_with(
            "modified src/app.py\nadded a/new.txt\ndeleted old.txt\nmoved here.txt to b/there.txt\n\
             moved changed.txt to b/moved.txt\n\n--- a/src/app.py\n"
        ),
        "{}",
        output.text
    );
}

// Better than the original: a failure in the last file leaves the first as it was.
#[test]
fn a_patch_that_fails_changes_nothing() {
    let bench = Bench::new(&[
        ("a", "1\n"),
        ("b", "1\n"),
        ("locked", "1\n"),
        ("folder/x", ""),
    ]);
    chmod(&bench.path("locked"), 0o444);
    bench.place.write("latin", b"caf\xE9");
    let first = "*** Update File: a\n@@\n-1\n+2\n";
    for (rest, kind, words) in [
        (
            "*** Update File: b\n@@\n-9\n+2",
            ErrorKind::NotFound,
            "b, line 7 of the patch: failed to find expected lines:\n9",
        ),
        (
            "*** Update File: b\n@@ nope\n-1\n+2",
            ErrorKind::NotFound,
            "failed to find context 'nope'",
        ),
        (
            "*** Update File: missing\n@@\n-1\n+2",
            ErrorKind::NotFound,
            "no file 'missing'",
        ),
        (
            "*** Delete File: missing",
            ErrorKind::NotFound,
            "no file 'missing'",
        ),
        ("*** Add File: b\n+x", ErrorKind::Failed, "b exists already"),
        (
            "*** Update File: b\n*** Move to: folder/x",
            ErrorKind::Failed,
            "folder/x exists already",
        ),
        (
            "*** Delete File: a",
            ErrorKind::InvalidArgs,
            "names a more than once",
        ),
        (
            "*** Update File: b\n*** Move to: a",
            ErrorKind::InvalidArgs,
            "names a more than once",
        ),
        (
            "*** Add File: c\n+x\n*** Add File: ./c\n+x",
            ErrorKind::InvalidArgs,
            "./c more than once",
        ),
        (
            "*** Add File: ../c\n+x",
            ErrorKind::InvalidArgs,
            "outside the workspace",
        ),
        (
            "*** Update File: b\n*** Move to: ../c",
            ErrorKind::InvalidArgs,
            "outside the workspace",
        ),
        (
            "*** Update File: locked\n@@\n-1\n+2",
            ErrorKind::Failed,
            "its mode forbids writing",
        ),
        (
            "*** Update File: latin\n@@\n+2",
            ErrorKind::Failed,
            "another encoding",
        ),
        (
            "*** Delete File: folder",
            ErrorKind::InvalidArgs,
            "is a folder",
        ),
        (
            "*** Add File: b/c\n+x",
            ErrorKind::Failed,
            "cannot be changed",
        ),
        (
            "*** Add File: new\n+x\n*** Add File: new/below\n+x",
            ErrorKind::Failed,
            "two operations touch it",
        ),
    ] {
        bench.refuses("apply_patch", patch(&format!("{first}{rest}")), kind, words);
    }
    for (text, words) in [
        ("*** Begin Patch\n*** End Patch", "no files were modified"),
        (
            "--- a/x\n+++ b/x",
            "the first line of the patch must be '*** Begin Patch'",
        ),
    ] {
        bench.refuses(
            "apply_patch",
            json!({"patch": text}),
            ErrorKind::InvalidArgs,
            words,
        );
    }
}

// A complaint about others: patched lines take the file's endings; D35: final newline and mark stay.
#[test]
fn the_form_of_a_file_survives() {
    let bench = Bench::new(&[("a", "\u{FEFF}1\r\n2\r\n3")]);
    chmod(&bench.path("a"), 0o640);
    bench.call(
        "apply_patch",
        patch("*** Update File: a\n@@\n 1\n-2\n+x\n+y\n 3\n+4"),
    );
    assert_eq!(bench.bytes("a"), b"\xEF\xBB\xBF1\r\nx\r\ny\r\n3\r\n4");
    let mode = bench.path("a").metadata().expect("it exists").mode();
    assert_eq!(mode & 0o7777, 0o640);
}

// D35: a tolerant match is named in the result; an exact one is not.
#[test]
fn a_fuzzy_match_is_named() {
    let bench = Bench::new(&[("a", "\tone\ntwo\n")]);
    let fuzzy = bench.call(
        "apply_patch",
        patch("*** Update File: a\n@@\n   one\n-two\n+2"),
    );
    assert_eq!(bench.text("a"), "\tone\n2\n");
    assert_eq!(
        fuzzy.data["notes"],
        json!(["fuzzy match in a at line 1: spaces around lines differed from the patch"])
    );
    let exact = bench.call("apply_patch", patch("*** Update File: a\n@@\n-2\n+two"));
    assert_eq!(exact.data["notes"], json!([]));
}

// Updates of one file apply in order; one that changes nothing says so.
#[test]
fn one_file_may_have_several_updates() {
    let bench = Bench::new(&[("a", "1\n2\n")]);
    let twice = "*** Update File: a\n@@\n-2\n+3\n*** Update File: ./a\n@@\n-1\n+2";
    let output = bench.call("apply_patch", patch(twice));
    assert_eq!(bench.text("a"), "2\n3\n");
    assert_eq!(
        output.data["files"],
        json!([{"file": "a", "change": "modified"}])
    );
    let same = bench.call("apply_patch", patch("*** Update File: a\n@@\n-2\n+2"));
    assert_eq!(
        same.text,
        "nothing changed\nnote: a is as the patch wants it already"
    );
}

// Links: an update writes through, a deletion takes the link, a move is refused, and none leads out.
#[test]
fn links_are_followed_or_taken_as_they_are() {
    let bench = Bench::new(&[("real", "1\n")]);
    symlink("real", bench.path("link")).expect("a link");
    symlink("real", bench.path("other")).expect("a link");
    bench.call("apply_patch", patch("*** Update File: link\n@@\n-1\n+2"));
    assert_eq!(bench.text("real"), "2\n");
    let moved = patch("*** Update File: link\n*** Move to: there\n@@\n-2\n+3");
    bench.refuses(
        "apply_patch",
        moved,
        ErrorKind::InvalidArgs,
        "symbolic link",
    );
    bench.call("apply_patch", patch("*** Delete File: other"));
    assert!(bench.path("other").symlink_metadata().is_err() && bench.path("real").exists());
    let outside = bench.place.temp.path().join("outside");
    fs::write(&outside, "secret\n").expect("a file");
    symlink(&outside, bench.path("out")).expect("a link");
    bench.refuses(
        "apply_patch",
        patch("*** Delete File: out"),
        ErrorKind::InvalidArgs,
        "outside",
    );
}

// D35: what a patch wrote the run has seen, and what it moved or deleted it has not.
#[test]
fn the_run_knows_what_it_patched() {
    let bench = Bench::new(&[("a", "1\n"), ("b", "1\n")]);
    bench.call(
        "apply_patch",
        patch("*** Update File: a\n@@\n-1\n+2\n*** Update File: b\n*** Move to: c"),
    );
    for (name, old) in [("a", "2"), ("c", "1")] {
        bench.call(
            "Edit",
            json!({"path": name, "old_string": old, "new_string": "3"}),
        );
    }
    bench.place.write("b", "1\n");
    let args = json!({"path": "b", "old_string": "1", "new_string": "3"});
    bench.refuses("Edit", args, ErrorKind::Stale, "not read");
}

// D12, D35: attributes that people attach to a file survive Write, Edit, and a patch that moves and changes it
// in one.
#[test]
fn extended_attributes_survive_every_writer() {
    let files = [("a", "1\n"), ("b", "1\n"), ("c", "1\n")];
    let bench = Bench::at(Place::on_disk(), &files);
    let flags = rustix::fs::XattrFlags::empty();
    for name in ["a", "b", "c"] {
        let path = bench.path(name);
        if rustix::fs::setxattr(&path, "user.origin", name.as_bytes(), flags).is_err() {
            println!("skipped: extended attributes missing");
            return;
        }
    }
    chmod(&bench.path("c"), 0o750);
    let _ = bench.read("a");
    let _ = bench.read("b");
    bench.call("Write", json!({"path": "a", "content": "2\n"}));
    let edit = json!({"path": "b", "old_string": "1", "new_string": "2"});
    bench.call("Edit", edit);
    let moved = "*** Update File: c\n*** Move to: deep/d\n@@\n-1\n+2";
    bench.call("apply_patch", patch(moved));
    for (path, origin) in [("a", "a"), ("b", "b"), ("deep/d", "c")] {
        assert_eq!(bench.text(path), "2\n");
        let mut value = [0; 16];
        let len = rustix::fs::getxattr(bench.path(path), "user.origin", &mut value);
        assert_eq!(len, Ok(1), "{path}");
        assert_eq!(&value[..1], origin.as_bytes());
    }
    assert!(!bench.path("c").exists());
    let metadata = bench.path("deep/d").metadata().expect("it exists");
    assert_eq!(metadata.mode() & 0o7777, 0o750);
}

// D12: the owner goes with a file that moves and changes in one.
#[test]
fn the_owner_goes_with_a_file_that_moves() {
    let bench = Bench::new(&[("a", "1\n")]);
    if std::os::unix::fs::chown(bench.path("a"), Some(65534), Some(65534)).is_err() {
        println!("skipped: the right to give files away missing");
        return;
    }
    bench.call(
        "apply_patch",
        patch("*** Update File: a\n*** Move to: b\n@@\n-1\n+2"),
    );
    let metadata = bench.path("b").metadata().expect("it exists");
    assert_eq!((metadata.uid(), metadata.gid()), (65534, 65534));
}
