//! Whether a server of C knows how a file is compiled, or guesses it.

use std::path::Path;

use super::upwards;
use crate::lsp::servers::{Ready, ServerRow};
use crate::walk::{WalkOptions, builder};

/// The files from which clangd takes the flags of the compiler, in the folder of a source or above it:
/// <https://clangd.llvm.org/design/compile-commands>
const DATABASES: [&str; 3] = [
    "compile_commands.json",
    "build/compile_commands.json",
    "compile_flags.txt",
];

/// A setting of clangd that says where else such a file lies; its other settings only change flags that are
/// guessed: <https://clangd.llvm.org/config#compilationdatabase>
const ELSEWHERE: &str = "CompilationDatabase:";

/// What to do about it.
const ADVICE: &str = "have the build write compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, \
                      meson, bear -- make), or list the flags in compile_flags.txt, one a line";

/// Says that a server of `row` guesses the flags of `path`, a file or folder in `root`, if it does.
pub(crate) fn guesses_flags(row: &ServerRow, root: &Path, path: &Path) -> Option<String> {
    let has_database = |folder: &Path| {
        let settings = std::fs::read_to_string(folder.join(".clangd"));
        DATABASES.iter().any(|name| folder.join(name).exists())
            || settings.is_ok_and(|text| text.contains(ELSEWHERE))
    };
    let guesses = row.ready == Ready::BackgroundIndex && !upwards(path, root).any(has_database);
    guesses.then(|| {
        format!(
            "it has no compilation database and guesses the flags, so headers in other folders are not found; \
             {ADVICE}"
        )
    })
}

/// The flags that a server of `row` must be told to guess in `root`, if any: it takes a header for one of C++
/// otherwise, whose functions are others to it than those of C. Walks the folder, so it is for a start alone.
pub(crate) fn fallback_flags(row: &ServerRow, root: &Path) -> Option<&'static [&'static str]> {
    let is_needed = guesses_flags(row, root, root).is_some() && is_plain_c(root);
    is_needed.then_some(&["-xc"])
}

/// How many files are looked at to tell whether a project is one of C alone.
const LOOKED_AT: usize = 20_000;

/// Whether a project has sources of C, and none of a language that its headers may be of as well.
fn is_plain_c(root: &Path) -> bool {
    let Ok(walker) = builder(root, &WalkOptions::default()) else {
        return false;
    };
    let mut has_c = false;
    for entry in walker.build().flatten().take(LOOKED_AT) {
        match entry.path().extension().and_then(|name| name.to_str()) {
            Some("c") => has_c = true,
            Some("cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "m" | "mm" | "cu") => return false,
            _ => {}
        }
    }
    has_c
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::lsp::servers;

    // R14: what is missing is said, for the one server that needs it, until it is there.
    #[test]
    fn a_database_counts_for_the_folders_below_it() {
        let temp = tempfile::tempdir().expect("a folder");
        let root = temp.path();
        let file = root.join("src/a.c");
        fs::create_dir_all(root.join("src")).expect("writable");
        fs::create_dir_all(root.join("other")).expect("writable");
        let rows = servers::built_in();
        let row = |id: &str| rows.iter().find(|row| row.id == id).expect("a row");
        let guesses = |id: &str, path: &Path| guesses_flags(row(id), root, path);
        let said = guesses("clangd", &file).expect("it guesses");
        assert!(said.contains("compile_flags.txt"), "{said}");
        assert_eq!(guesses("gopls", &file), None);
        // Most settings of clangd say nothing of how a file is compiled.
        fs::write(root.join(".clangd"), "CompileFlags: {Add: [-Wall]}\n").expect("writable");
        assert!(guesses("clangd", &file).is_some());
        let settings = "CompileFlags:\n  CompilationDatabase: out\n";
        fs::write(root.join(".clangd"), settings).expect("writable");
        assert_eq!(guesses("clangd", &file), None);
        fs::remove_file(root.join(".clangd")).expect("writable");
        fs::write(root.join("other/compile_flags.txt"), "").expect("writable");
        assert!(guesses("clangd", &file).is_some(), "it is beside");
        fs::write(root.join("compile_flags.txt"), "").expect("writable");
        assert_eq!(guesses("clangd", &file), None);
        assert_eq!(guesses("clangd", root), None);
    }
}
