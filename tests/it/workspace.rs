//! The path guard and the display of paths.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolbox::workspace::{Workspace, WorkspaceError, enclosing_checkout};

use crate::files_support::Place;

fn open(place: &Place) -> Workspace {
    Workspace::open(&place.work()).unwrap()
}

// D36: relative and absolute paths inside resolve, whether they exist or not.
#[test]
fn paths_inside_resolve() {
    let place = Place::new();
    place.write("src/a.c", "");
    symlink("src", place.work().join("link")).unwrap();
    symlink("nowhere/yet", place.work().join("dangling")).unwrap();
    let workspace = open(&place);
    let work = place.work();
    let cases = [
        ("src/a.c", "src/a.c"),
        ("./src//a.c", "src/a.c"),
        ("link/a.c", "src/a.c"),
        ("src/../src/a.c", "src/a.c"),
        ("new/folder/b.c", "new/folder/b.c"),
        ("new/../b.c", "b.c"),
        ("dangling", "nowhere/yet"),
        ("src/a.c/below", "src/a.c/below"),
        ("..a", "..a"),
        ("", ""),
    ];
    for (given, real) in cases {
        let expected: std::path::PathBuf = work.join(real).components().collect();
        assert_eq!(workspace.resolve(given).unwrap(), expected, "{given:?}");
        let absolute = work.join(given);
        assert_eq!(workspace.resolve(absolute).unwrap(), expected, "{given:?}");
    }
}

// D36: a path outside is refused, also through `..`, a link, a link to a link and a dangling link.
#[test]
fn paths_outside_are_refused() {
    let place = Place::new();
    let work = place.work();
    fs::create_dir(work.join("src")).unwrap();
    fs::create_dir(work.with_file_name("work-sibling")).unwrap();
    symlink("/", work.join("root")).unwrap();
    symlink("../..", work.join("src/up")).unwrap();
    symlink("src/up", work.join("twice")).unwrap();
    symlink("../not-there", work.join("dangling")).unwrap();
    let workspace = open(&place);
    let sibling = format!("{}-sibling", work.display());
    for given in [
        "..",
        "../x",
        "src/../../x",
        "new/../../x",
        "root/etc/passwd",
        "src/up",
        "src/up/x",
        "twice/x",
        "dangling",
        "/etc/passwd",
        "/",
        sibling.as_str(),
    ] {
        let err = workspace.resolve(given).unwrap_err();
        assert!(
            matches!(err, WorkspaceError::Outside { .. }),
            "{given:?}: {err}"
        );
        let message = err.to_string();
        assert!(message.contains(given), "{message}");
        assert!(message.contains("only the workspace is open"), "{message}");
    }
}

// D36: `..` behind a link goes where the kernel goes, not where the text goes.
#[test]
fn dot_dot_behind_a_link_follows_the_link_first() {
    let place = Place::new();
    let work = place.work();
    fs::create_dir_all(work.join("a/b")).unwrap();
    symlink("a/b", work.join("link")).unwrap();
    let workspace = open(&place);
    assert_eq!(workspace.resolve("link/../x").unwrap(), work.join("a/x"));
}

// D36: the host can add roots; nothing beside them opens.
#[test]
fn extra_roots_are_open() {
    let place = Place::new();
    let extra = place.temp.path().join("extra");
    fs::create_dir(&extra).unwrap();
    let file = extra.join("x");
    assert!(open(&place).resolve(&file).is_err());
    let workspace = open(&place).with_extra_root(&extra).unwrap();
    assert!(workspace.resolve(&file).is_ok());
    assert!(workspace.resolve("../extra/x").is_ok());
    assert!(workspace.resolve("../other/x").is_err());
}

#[test]
fn link_loops_and_odd_names_are_errors_and_no_hang() {
    let place = Place::new();
    let work = place.work();
    symlink("loop", work.join("loop")).unwrap();
    symlink("pong", work.join("ping")).unwrap();
    symlink("ping", work.join("pong")).unwrap();
    let workspace = open(&place);
    for given in ["loop", "ping/x"] {
        let err = workspace.resolve(given).unwrap_err();
        assert!(matches!(err, WorkspaceError::LinkLoop { .. }), "{err}");
    }
    assert!(workspace.resolve("a\0b").is_err());
    assert!(workspace.resolve("x".repeat(10_000)).is_err());
}

#[test]
fn a_root_must_be_an_absolute_folder() {
    let place = Place::new();
    let file = place.write("f", "");
    assert!(matches!(
        Workspace::open(Path::new("src")),
        Err(WorkspaceError::NotAbsolute { .. })
    ));
    assert!(matches!(
        Workspace::open(&file),
        Err(WorkspaceError::NotAFolder { .. })
    ));
    assert!(matches!(
        Workspace::open(&place.work().join("missing")),
        Err(WorkspaceError::Io { .. })
    ));
}

// D36: relative inside, absolute outside; a name can neither vanish nor forge a line.
#[test]
fn paths_display_for_reading() {
    let place = Place::new();
    let workspace = open(&place);
    let work = place.work();
    assert_eq!(workspace.display(&work.join("src/a.c")), "src/a.c");
    assert_eq!(workspace.display(&work), ".");
    assert_eq!(workspace.display(Path::new("/usr/x")), "/usr/x");
    let latin1 = work.join(OsStr::from_bytes(b"caf\xE9"));
    assert_eq!(workspace.display(&latin1), "caf\u{FFFD}");
    assert_eq!(workspace.resolve(&latin1).unwrap(), latin1);
    assert_eq!(
        workspace.display(&work.join("a\nb\x1b[0m")),
        "a\\nb\\u{1b}[0m"
    );
}

#[test]
fn the_nearest_checkout_is_found() {
    let place = Place::new();
    let work = place.work();
    fs::create_dir_all(work.join("a/b")).unwrap();
    fs::create_dir(work.join(".hg")).unwrap();
    assert_eq!(enclosing_checkout(&work.join("a/b")), Some(work.clone()));
    fs::write(work.join("a/.git"), "gitdir: elsewhere").unwrap();
    assert_eq!(enclosing_checkout(&work.join("a/b")), Some(work.join("a")));
    assert_eq!(enclosing_checkout(&work), Some(work.clone()));
}
