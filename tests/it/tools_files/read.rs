//! `Read`: what is shown, and what is said where nothing can be shown.

use std::os::unix::fs::symlink;

use toolbox::tools::ReadLimits;

use super::*;
use crate::files_support::chmod;

// R143: numbered lines; data as the interface page has it.
#[test]
fn lines_are_numbered() {
    let bench = Bench::new(&[("src/a.rs", "fn a() {}\n\n\tb\n")]);
    let output = bench.read("src/a.rs");
    assert_eq!(output.text, "     1\tfn a() {}\n     2\t\n     3\t\tb\n");
    let data = &output.data;
    assert_eq!(
        (&data["file"], &data["content"], &data["truncated"]),
        (
            &json!("src/a.rs"),
            &json!("fn a() {}\n\n\tb\n"),
            &json!(false)
        )
    );
    let lines =
        |data: &Value| ["start_line", "end_line", "total_lines"].map(|key| data[key].as_u64());
    assert_eq!(lines(data), [Some(1), Some(3), Some(3)]);
    let part = bench.call("Read", json!({"path": "src/a.rs", "offset": 2, "limit": 1}));
    assert_eq!(
        part.text,
        "     2\t\n(src/a.rs: lines 2 to 2 of 3; pass offset 3 to go on)"
    );
    assert_eq!(part.data["truncated"], true);
    assert_eq!(lines(&part.data), [Some(2), Some(2), Some(3)]);
}

// R143: 2,000 lines and 2,000 characters where the caller says nothing, at n and n + 1.
#[test]
fn a_partial_view_says_so_and_how_to_go_on() {
    let bench = Bench::new(&[
        ("exact", &"x\n".repeat(2_000)),
        ("more", &"x\n".repeat(2_001)),
        (
            "wide",
            &format!("{}\n{}\n", "é".repeat(2_000), "é".repeat(2_001)),
        ),
    ]);
    assert_eq!(bench.read("exact").data["truncated"], false);
    let more = bench.read("more");
    assert_eq!(more.data["end_line"], 2_000);
    assert!(
        more.text
            .ends_with("(more: lines 1 to 2000 of 2001; pass offset 2001 to go on)")
    );
    let rest = bench.call("Read", json!({"path": "more", "offset": 2_001}));
    assert_eq!(rest.text, "  2001\tx\n(more: lines 2001 to 2001 of 2001)");
    let wide = bench.read("wide");
    assert!(
        wide.text
            .contains("long lines were cut: 2 (2001 characters)"),
        "{}",
        wide.data["note"]
    );
    assert_eq!(wide.data["truncated"], true);
    let all = bench.call("Read", json!({"path": "wide", "line_chars": 2_001}));
    assert_eq!(all.data["truncated"], false);
}

// R143: an empty file is empty, an offset past the end says how long the file is.
#[test]
fn empty_files_and_wrong_offsets_are_told_truthfully() {
    let bench = Bench::new(&[("empty", ""), ("two", "a\nb\n")]);
    let empty = bench.read("empty");
    assert_eq!(empty.text, "(empty: the file is empty)");
    assert_eq!(
        (&empty.data["total_lines"], &empty.data["content"]),
        (&json!(0), &json!(""))
    );
    let past = json!({"path": "two", "offset": 3});
    let error = bench.refuses(
        "Read",
        past,
        ErrorKind::InvalidArgs,
        "there are 2 lines in two",
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("1 to 2")));
    for name in ["offset", "limit", "line_chars"] {
        let args = json!({"path": "two", name: 0});
        bench.refuses(
            "Read",
            args,
            ErrorKind::InvalidArgs,
            &format!("{name} is 0"),
        );
    }
}

// R143: CRLF and a byte order mark do not show; the data names the endings.
#[test]
fn marks_and_carriage_returns_do_not_show() {
    let bench = Bench::new(&[("a", "\u{FEFF}x\r\ny\r\n")]);
    let output = bench.read("a");
    assert_eq!(output.text, "     1\tx\n     2\ty\n");
    assert_eq!(output.data["line_ending"], "crlf");
}

// R143: pictures come back as pictures, up to a size.
#[test]
fn pictures_come_back_as_pictures() {
    let png = b"\x89PNG\r\n\x1A\n0123456789";
    let limited = |files: FileResources| FileResources {
        limits: ReadLimits {
            image_bytes: png.len() as u64,
            ..ReadLimits::default()
        },
        ..files
    };
    let bench = Bench::with(&[], limited);
    // The content counts, not the name.
    bench.place.write("a.txt", png);
    bench.place.write("large.png", [&png[..], b"x"].concat());
    let output = bench.read("a.txt");
    assert_eq!(output.images.len(), 1);
    assert_eq!(
        (output.images[0].mime.as_str(), &output.images[0].bytes[..]),
        ("image/png", &png[..])
    );
    assert_eq!(output.text, "(a.txt: PNG picture, 18 bytes)");
    assert_eq!(
        output.data["image"],
        json!({"mime": "image/png", "bytes": 18})
    );
    let large = json!({"path": "large.png"});
    bench.refuses(
        "Read",
        large,
        ErrorKind::Failed,
        "19 bytes; the limit is 18",
    );
}

// R143: notebooks as text, and as JSON on request.
#[test]
fn notebooks_are_shown_as_cells() {
    let text = r#"{"cells": [{"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": []}]}"#;
    let bench = Bench::new(&[("n.ipynb", text), ("broken.ipynb", "{")]);
    let output = bench.read("n.ipynb");
    assert!(
        output
            .text
            .starts_with("     1\t# cell 1 of 1 (code)\n     2\ta = 1\n     3\ta\n"),
        "{}",
        output.text
    );
    assert!(output.text.contains("pass raw true"));
    let raw = bench.call("Read", json!({"path": "n.ipynb", "raw": true}));
    assert_eq!(raw.data["content"], text);
    assert_eq!(bench.read("broken.ipynb").text, "     1\t{\n");
}

// R143: binary files and other encodings get a clear answer.
#[test]
fn what_is_no_text_is_named() {
    let bench = Bench::new(&[]);
    for (name, bytes, words, hint) in [
        (
            "a.pdf",
            &b"%PDF-1.7\0"[..],
            "a.pdf is a PDF document (9 bytes)",
            "Read shows text",
        ),
        (
            "a.bin",
            b"a\0b",
            "a.bin is binary (3 bytes)",
            "Read shows text",
        ),
        ("latin", b"caf\xE9", "another encoding than UTF-8", "iconv"),
        (
            "wide",
            b"\xFF\xFEa\0",
            "UTF-16 text (little-endian)",
            "iconv -f UTF-16LE",
        ),
    ] {
        bench.place.write(name, bytes);
        let error = bench.refuses("Read", json!({"path": name}), ErrorKind::Failed, words);
        assert!(
            error.hint().is_some_and(|text| text.contains(hint)),
            "{error:?}"
        );
    }
}

// R143: a file over the limit at n and n + 1 bytes.
#[test]
fn a_file_that_is_too_large_is_refused() {
    let limited = |files: FileResources| FileResources {
        limits: ReadLimits {
            file_bytes: 4,
            ..ReadLimits::default()
        },
        ..files
    };
    let bench = Bench::with(&[("four", "abcd"), ("five", "abcde")], limited);
    assert_eq!(bench.read("four").data["content"], "abcd");
    bench.refuses(
        "Read",
        json!({"path": "five"}),
        ErrorKind::Failed,
        "five has 5 bytes; the limit is 4",
    );
}

// R143: a path that is nearly right gets suggestions.
#[test]
fn a_missing_file_gets_suggestions() {
    let bench = Bench::new(&[
        ("src/parser.rs", ""),
        ("src/lexer.ts", ""),
        ("docs/guide.md", ""),
        ("other/deep/widget.py", ""),
    ]);
    let hints = |path: &str| {
        let error = bench.refuses("Read", json!({"path": path}), ErrorKind::NotFound, path);
        error.hint().expect("checked").to_owned()
    };
    for (path, near) in [
        ("src/parsre.rs", "src/parser.rs"),
        ("src/Parser.rs", "src/parser.rs"),
        ("src/lexer.js", "src/lexer.ts"),
        ("guide.md", "docs/guide.md"),
        ("wrong/deep/widget.py", "other/deep/widget.py"),
        ("src/lexer.ts/x/guide.md", "docs/guide.md"),
    ] {
        assert_eq!(hints(path), format!("did you mean {near}?"), "{path}");
    }
    assert!(hints("nothing/like/it.zig").contains("nothing has a name like it"));
}

// R143: a folder is answered with what it holds.
#[test]
fn a_folder_lists_what_it_holds() {
    let bench = Bench::new(&[("src/a.rs", ""), ("src/sub/b.rs", "")]);
    fs::create_dir(bench.path("empty")).expect("a folder");
    let hint = |path: &str| {
        let error = bench.refuses(
            "Read",
            json!({"path": path}),
            ErrorKind::InvalidArgs,
            "is a folder",
        );
        error.hint().expect("checked").to_owned()
    };
    assert_eq!(hint("src"), "name a file; it holds a.rs, sub/");
    assert_eq!(hint("empty"), "it is empty");
    for n in 0..51 {
        bench.place.write(&format!("many/{n:02}"), "");
    }
    assert!(hint("many").ends_with("49 and 1 more"));
}

// R143: what could block is never opened. A read of a pipe without a writer would never end.
#[test]
fn pipes_and_devices_are_not_opened() {
    let bench = Bench::new(&[]);
    let pipe = bench.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a pipe");
    let call = |name: &str, args| match bench.run.dispatch(name, args, CallOptions::new()) {
        Ok(output) => panic!("{}", output.text),
        Err(error) => error.message().to_owned(),
    };
    assert_eq!(
        call("Read", json!({"path": "pipe"})),
        "pipe is a named pipe, not a regular file"
    );
    let write = call("Write", json!({"path": "pipe", "content": "x"}));
    assert!(write.contains("named pipe"), "{write}");
    let device = Bench::with(&[], |files| {
        let workspace = files.workspace.clone();
        FileResources {
            workspace: workspace
                .with_extra_root(std::path::Path::new("/dev"))
                .expect("it exists"),
            ..files
        }
    });
    device.refuses(
        "Read",
        json!({"path": "/dev/null"}),
        ErrorKind::Failed,
        "is a device",
    );
}

// D36: outside is outside, also through a link or `..`; a file that a language server named may be read.
#[test]
fn outside_is_refused_unless_it_was_allowed() {
    let bench = Bench::new(&[]);
    let outside = bench
        .place
        .temp
        .path()
        .canonicalize()
        .expect("it exists")
        .join("outside");
    fs::write(&outside, "secret\n").expect("a file");
    symlink(&outside, bench.path("link")).expect("a link");
    let paths = ["link", "../outside", outside.to_str().expect("UTF-8")];
    for path in paths {
        bench.refuses(
            "Read",
            json!({"path": path}),
            ErrorKind::InvalidArgs,
            "outside the workspace",
        );
    }
    bench.files.allowed.allow(&outside);
    for path in paths {
        let output = bench.read(path);
        assert_eq!(output.data["content"], "secret\n");
        assert_eq!(output.data["file"], outside.to_str().expect("UTF-8"));
        // Reading is all that was allowed.
        let args = json!({"path": path, "content": "x"});
        bench.refuses(
            "Write",
            args,
            ErrorKind::InvalidArgs,
            "outside the workspace",
        );
        let args = json!({"path": path, "old_string": "secret", "new_string": "x"});
        bench.refuses(
            "Edit",
            args,
            ErrorKind::InvalidArgs,
            "outside the workspace",
        );
    }
}

#[test]
fn unreadable_files_and_odd_paths_are_refused() {
    let bench = Bench::new(&[]);
    for path in ["", "a\0b"] {
        bench.refuses(
            "Read",
            json!({"path": path}),
            ErrorKind::InvalidArgs,
            "is no path",
        );
    }
    symlink("loop", bench.path("loop")).expect("a link");
    bench.refuses(
        "Read",
        json!({"path": "loop"}),
        ErrorKind::InvalidArgs,
        "too many symbolic links",
    );
    fs::remove_file(bench.path("loop")).expect("it was there");
    let locked = bench.place.write("locked", "x");
    chmod(&locked, 0o000);
    // The superuser reads everything.
    if fs::read(&locked).is_err() {
        let error = bench
            .run
            .dispatch("Read", json!({"path": "locked"}), CallOptions::new());
        assert!(
            error
                .expect_err("it fails")
                .message()
                .contains("cannot read locked")
        );
    }
}

// R143: the pictures of a notebook's outputs come with it, as many bytes as one picture may have, and what is
// left out is said; those of cells that are not shown do not come.
#[test]
fn pictures_of_a_notebook_come_with_it() {
    use base64::Engine as _;
    let png = |letter: u8| [&b"\x89PNG\r\n\x1A\n"[..], &[letter; 10]].concat();
    let encode = |bytes: Vec<u8>| base64::engine::general_purpose::STANDARD.encode(bytes);
    let cell = |letter: u8| {
        let data = json!({"image/png": encode(png(letter)), "text/plain": "<Figure>"});
        json!({"cell_type": "code", "source": "plot()",
               "outputs": [{"output_type": "display_data", "data": data}]})
    };
    let text = json!({"cells": [cell(b'a'), cell(b'b'), cell(b'c')]}).to_string();
    let limited = |image_bytes: u64| {
        let limits = |files: FileResources| FileResources {
            limits: ReadLimits {
                image_bytes,
                ..ReadLimits::default()
            },
            ..files
        };
        Bench::with(&[("n.ipynb", &text)], limits)
    };
    let all = limited(3 * 18).read("n.ipynb");
    let bytes: Vec<&[u8]> = all.images.iter().map(|image| &image.bytes[..]).collect();
    assert_eq!(bytes, [png(b'a'), png(b'b'), png(b'c')]);
    assert_eq!(all.images[0].mime, "image/png");
    assert!(all.text.contains("[image/png: picture 2]"), "{}", all.text);
    assert!(
        all.text.contains("3 pictures come with it, from 1 to 3"),
        "{}",
        all.text
    );
    assert_eq!(
        all.data["pictures"][1],
        json!({"picture": 2, "mime": "image/png", "bytes": 18})
    );
    let fewer = limited(3 * 18 - 1).read("n.ipynb");
    assert_eq!(fewer.images.len(), 2);
    let words = "left out: picture 3 (18 bytes); one answer holds 20 pictures of 53 bytes together";
    assert!(fewer.text.contains(words), "{}", fewer.text);
    let bench = limited(3 * 18);
    let second = json!({"path": "n.ipynb", "offset": 7, "limit": 5});
    let part = bench.call("Read", second);
    let shown: Vec<&[u8]> = part.images.iter().map(|image| &image.bytes[..]).collect();
    assert_eq!(shown, [png(b'b')], "{}", part.text);
    assert!(
        part.text.contains("picture 2 comes with it"),
        "{}",
        part.text
    );
}

// R143: the number of pictures at n and n + 1.
#[test]
fn so_many_pictures_come_with_a_notebook() {
    use base64::Engine as _;
    let png = base64::engine::general_purpose::STANDARD.encode(b"\x89PNG\r\n\x1A\n");
    for n in [20, 21] {
        let output = json!({"output_type": "display_data", "data": {"image/png": png}});
        let outputs = vec![output; n];
        let cells = json!({"cells": [{"cell_type": "code", "source": "", "outputs": outputs}]});
        let bench = Bench::new(&[("n.ipynb", &cells.to_string())]);
        let output = bench.read("n.ipynb");
        assert_eq!(output.images.len(), 20);
        assert_eq!(output.text.contains("left out"), n == 21, "{}", output.text);
    }
}
