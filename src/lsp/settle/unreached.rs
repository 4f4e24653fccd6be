//! Whether the compiler that rust-analyzer runs has come to a file that it says nothing of.
//!
//! Cargo does not check what depends on a crate with errors, and a compiler that stumbles over the syntax looks no
//! further in that crate. Which crate a file belongs to is read off its place, as cargo does by default; where it
//! may depend on what is broken, its silence is no answer.

use std::path::{Path, PathBuf};

use super::said;
use crate::lsp::client::{Server, ServerState};
use crate::lsp::published::Severity;

/// What the compiler calls itself.
const COMPILER: &str = "rustc";

/// Says why it is not known whether the compiler looked at a file of which it said nothing.
pub(crate) fn unreached(server: &Server, path: &Path) -> Option<String> {
    let broken = server.look(|state| match is_named(state, path) {
        true => Vec::new(),
        false => broken(state),
    });
    // The disk is asked where anything is broken at all.
    if broken.is_empty() {
        return None;
    }
    let asked = Target::of(path, server.root());
    let first = broken.iter().find(|(file, is_whole)| {
        let other = Target::of(file, server.root());
        asked.may_need(&other, *is_whole)
    });
    let (first, _) = first?;
    let shown = first.strip_prefix(server.root()).unwrap_or(first);
    Some(format!(
        "{}: the compiler stops at the errors in {}, so that it need not have come to this file",
        server.id(),
        shown.display()
    ))
}

/// Whether it says anything of a file: then it has been there.
fn is_named(state: &ServerState, path: &Path) -> bool {
    let items = said(state, path).map_or([].as_slice(), |said| &said.items);
    items
        .iter()
        .any(|item| item.source.as_deref() == Some(COMPILER))
}

/// The files with errors, and whether the compiler looks at the rest of their crate all the same: what it cannot
/// parse or expand has no code.
fn broken(state: &ServerState) -> Vec<(PathBuf, bool)> {
    let files = state.published().iter().filter_map(|(path, said)| {
        let mut errors = said
            .items
            .iter()
            .filter(|item| {
                item.source.as_deref() == Some(COMPILER) && item.severity == Severity::Error
            })
            .peekable();
        errors.peek()?;
        Some((path.to_owned(), errors.all(|error| error.code.is_some())))
    });
    files.collect()
}

/// What is compiled at once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    /// The folder of the manifest.
    package: PathBuf,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    BuildScript,
    Library,
    /// A program, a test, an example, a benchmark: nothing depends on it. With the folder of its kind.
    Leaf(PathBuf),
}

impl Target {
    fn of(path: &Path, root: &Path) -> Target {
        let package = path
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(root))
            .find(|folder| folder.join("Cargo.toml").exists())
            .unwrap_or(root);
        let inside = path.strip_prefix(package).unwrap_or(path);
        let begins = |start: &str| inside.starts_with(start);
        let kind = if inside == Path::new("build.rs") {
            Kind::BuildScript
        } else if inside == Path::new("src/main.rs") || begins("src/bin") {
            Kind::Leaf("src/bin".into())
        } else if begins("src") {
            // Without a library all of it belongs to the program.
            match package.join("src/lib.rs").exists() {
                true => Kind::Library,
                false => Kind::Leaf("src/bin".into()),
            }
        } else {
            Kind::Leaf(inside.iter().next().map(PathBuf::from).unwrap_or_default())
        };
        Target {
            package: package.to_owned(),
            kind,
        }
    }

    /// Whether this may not have been checked because of errors in another; `is_whole` where the compiler looks
    /// at all of a crate with such errors.
    fn may_need(&self, other: &Target, is_whole: bool) -> bool {
        if self == other {
            return !is_whole;
        }
        match (&self.kind, &other.kind) {
            (_, Kind::Leaf(_)) => false,
            _ if self.package == other.package => self.kind != Kind::BuildScript,
            _ => self.has_local_dependencies(),
        }
    }

    /// Whether its manifest names a crate of the same workspace, or may take one from there.
    fn has_local_dependencies(&self) -> bool {
        let manifest = std::fs::read_to_string(self.package.join("Cargo.toml"));
        manifest.is_ok_and(|text| text.contains("path") || text.contains("workspace"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // D2: what depends on a crate with errors was not looked at; what it depends on was.
    #[test]
    fn what_depends_on_a_broken_crate_is_not_reached() {
        let temp = tempfile::tempdir().expect("a folder");
        let root = temp.path();
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
            fs::write(path, text).expect("writable");
        };
        write("a/Cargo.toml", "[package]\nname = \"a\"\n");
        write("a/src/lib.rs", "");
        write("b/Cargo.toml", "[dependencies]\na = { path = \"../a\" }\n");
        write("b/src/main.rs", "");
        let may_need = |asked: &str, broken: &str, is_whole: bool| {
            let of = |name: &str| Target::of(&root.join(name), root);
            of(asked).may_need(&of(broken), is_whole)
        };
        // Of another crate of the package, or of a package that depends on it.
        assert!(may_need("a/tests/t.rs", "a/src/lib.rs", true));
        assert!(may_need("a/src/main.rs", "a/src/x.rs", true));
        assert!(may_need("a/src/lib.rs", "a/build.rs", true));
        assert!(may_need("b/src/main.rs", "a/src/lib.rs", true));
        assert!(!may_need("a/src/lib.rs", "b/src/main.rs", true));
        assert!(!may_need("a/src/lib.rs", "a/tests/t.rs", false));
        assert!(!may_need("a/src/lib.rs", "a/src/bin/p.rs", false));
        // In one crate the errors of types stop nothing; what cannot be parsed does.
        assert!(!may_need("a/src/x.rs", "a/src/lib.rs", true));
        assert!(may_need("a/src/x.rs", "a/src/lib.rs", false));
        assert!(may_need("b/src/x.rs", "b/src/main.rs", false));
        assert!(may_need("a/tests/t.rs", "a/tests/common/mod.rs", false));
        assert!(!may_need("a/tests/t.rs", "a/examples/e.rs", false));
    }
}
