//! Where the paths of a command line are looked up.

use super::*;

const GUARDS: &str = "void f() { a.dispose(); }\n";

// `-C DIR`: relative paths are looked up in DIR first, as git and make do, else in the current folder.
#[test]
fn paths_are_relative_to_the_named_workspace() {
    let checkout = Checkout::new(&[("lib/a.dart", GUARDS), ("lib/sub/b.dart", GUARDS)]);
    let outside = tempfile::tempdir().unwrap();
    let root = checkout.root().to_str().unwrap().to_owned();
    for (cwd, path) in [
        (outside.path().to_owned(), "lib/sub"),
        (checkout.root().join("lib"), "sub/b.dart"),
        (checkout.root().to_owned(), "lib/sub/b.dart"),
    ] {
        checkout
            .toolbox(&["-C", &root, "ast-grep", "$X.dispose()", path, "-l", "dart"])
            .current_dir(cwd)
            .assert()
            .code(0)
            .stdout(starts_with("lib/sub/b.dart\n"));
    }
    checkout
        .toolbox(&[
            "-C",
            &root,
            "ast-grep",
            "$X.dispose()",
            "nosuch",
            "-l",
            "dart",
        ])
        .current_dir(outside.path())
        .assert()
        .code(3);
}
