//! `Write`: new files, new contents, and what of a file survives them.

use std::os::unix::fs::{MetadataExt, symlink};

use super::*;
use crate::files_support::chmod;

// R144: a new file with its folders; data as the interface page has it.
#[test]
fn a_file_is_made_with_its_folders() {
    let bench = Bench::new(&[]);
    let output = bench.call("Write", json!({"path": "a/b/c.txt", "content": "one\ntwo"}));
    assert_eq!(bench.text("a/b/c.txt"), "one\ntwo");
    assert_eq!(output.text, "added a/b/c.txt");
    assert_eq!(
        output.data["files"],
        json!([{"file": "a/b/c.txt", "change": "added"}])
    );
    let diff = output.data["diff"].as_str().expect("a diff");
    assert!(diff.contains("+one\n+two"), "{diff}");
}

// R144: an existing file, also one that the run never read; the diff shows.
#[test]
fn a_file_gets_a_new_content() {
    let bench = Bench::new(&[("a.txt", "old\nsame\n")]);
    let output = bench.call("Write", json!({"path": "a.txt", "content": "new\nsame\n"}));
    assert_eq!(bench.text("a.txt"), "new\nsame\n");
    assert_eq!(
        output.text,
        "modified a.txt\n\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n"
    );
    let again = bench.call("Write", json!({"path": "a.txt", "content": "new\nsame\n"}));
    assert_eq!(
        again.text,
        "nothing changed\nnote: a.txt has this content already"
    );
    assert_eq!(
        (&again.data["files"], &again.data["diff"]),
        (&json!([]), &json!(""))
    );
}

// D35: line endings, byte order mark, final newline, mode and link survive a whole new content.
#[test]
fn the_form_of_a_file_survives() {
    let bench = Bench::new(&[
        ("crlf", "a\r\nb\r\n"),
        ("bom", "\u{FEFF}a\n"),
        ("real", "a\n"),
    ]);
    let crlf = bench.call("Write", json!({"path": "crlf", "content": "x\ny"}));
    assert_eq!(bench.bytes("crlf"), b"x\r\ny\r\n");
    assert!(
        crlf.text
            .contains("note: the CRLF line endings of the file were kept"),
        "{}",
        crlf.text
    );
    assert!(
        crlf.text
            .contains("note: the final newline of the file was kept"),
        "{}",
        crlf.text
    );
    bench.call("Write", json!({"path": "bom", "content": "x\n"}));
    assert_eq!(bench.bytes("bom"), b"\xEF\xBB\xBFx\n");
    chmod(&bench.path("real"), 0o750);
    symlink("real", bench.path("link")).expect("a link");
    let through = bench.call("Write", json!({"path": "link", "content": "x\n"}));
    assert_eq!(through.data["files"][0]["file"], "real");
    assert_eq!(bench.text("real"), "x\n");
    let link = bench.path("link").symlink_metadata().expect("it exists");
    assert!(link.is_symlink());
    let mode = bench.path("real").metadata().expect("it exists").mode();
    assert_eq!(mode & 0o7777, 0o750);
}

// D35: a file that changed since the run last read it is refused, until it is read again.
#[test]
fn a_file_that_changed_since_is_refused() {
    let bench = Bench::new(&[("a", "1\n")]);
    bench.read("a");
    bench.place.write("a", "2\n");
    let write = json!({"path": "a", "content": "3\n"});
    bench.refuses(
        "Write",
        write.clone(),
        ErrorKind::Stale,
        "a changed on disk",
    );
    bench.read("a");
    bench.call("Write", write);
    // What the run wrote itself it knows.
    bench.call("Write", json!({"path": "a", "content": "4\n"}));
    bench.place.write("a", "5\n");
    bench.refuses(
        "Write",
        json!({"path": "a", "content": "6\n"}),
        ErrorKind::Stale,
        "changed",
    );
    // Nothing can be lost of a file that is gone.
    fs::remove_file(bench.path("a")).expect("it was there");
    assert_eq!(
        bench
            .call("Write", json!({"path": "a", "content": "7\n"}))
            .text,
        "added a"
    );
}

// D12: what cannot be written byte for byte, or must not be, is refused before anything is touched.
#[test]
fn what_must_not_be_overwritten_is_refused() {
    let bench = Bench::new(&[("folder/x", ""), ("file", "")]);
    for (name, bytes, words) in [
        ("latin", &b"caf\xE9"[..], "another encoding"),
        ("utf16", b"\xFE\xFF\0a", "UTF-16"),
        ("binary", b"a\0", "binary"),
    ] {
        bench.place.write(name, bytes);
        let args = json!({"path": name, "content": "x"});
        bench.refuses("Write", args, ErrorKind::Failed, words);
    }
    let locked = bench.place.write("locked", "x");
    chmod(&locked, 0o444);
    let args = json!({"path": "locked", "content": "y"});
    bench.refuses("Write", args, ErrorKind::Failed, "its mode forbids writing");
    let args = json!({"path": "folder", "content": "y"});
    bench.refuses("Write", args, ErrorKind::InvalidArgs, "is a folder");
    let args = json!({"path": "file/below", "content": "y"});
    bench.refuses("Write", args, ErrorKind::Failed, "cannot be changed");
    let args = json!({"path": "../x", "content": "y"});
    bench.refuses("Write", args, ErrorKind::InvalidArgs, "outside");
    symlink("../dangling", bench.path("dangling")).expect("a link");
    let args = json!({"path": "dangling", "content": "y"});
    bench.refuses("Write", args, ErrorKind::InvalidArgs, "outside");
    symlink("made", bench.path("inside")).expect("a link");
    bench.call("Write", json!({"path": "inside", "content": "y"}));
    assert_eq!(bench.text("made"), "y");
}

// D35: two writes at once leave one of the two contents, and both calls know what they did.
#[test]
fn writes_at_once_stay_consistent() {
    let bench = Bench::new(&[("a", "start\n")]);
    bench.read("a");
    let contents: Vec<String> = (0..8).map(|n| format!("{n}\n").repeat(1_000)).collect();
    std::thread::scope(|scope| {
        for content in &contents {
            let args = json!({"path": "a", "content": content});
            scope.spawn(|| bench.call("Write", args));
        }
    });
    assert!(contents.contains(&bench.text("a")));
}
