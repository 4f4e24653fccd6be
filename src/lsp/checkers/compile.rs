//! The commands of a compile_commands.json, turned into ones that only check.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One file of the compilation database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) folder: PathBuf,
    pub(super) file: PathBuf,
    /// The compiler.
    pub(super) program: String,
    /// Its arguments, without those that write something or shape what is printed.
    pub(super) args: Vec<String>,
}

#[derive(Deserialize)]
struct WireEntry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl Entry {
    /// The compiler as it is started: a name is looked up, a path may be relative to the folder.
    pub(super) fn compiler(&self) -> PathBuf {
        match self.program.contains('/') {
            true => self.folder.join(&self.program),
            false => PathBuf::from(&self.program),
        }
    }
}

/// Reads a compilation database; `base` is its folder. An entry that starts no compiler is left out.
pub(super) fn entries(text: &str, base: &Path) -> Result<Vec<Entry>, serde_json::Error> {
    let entries: Vec<WireEntry> = serde_json::from_str(text)?;
    let mut entries: Vec<Entry> = entries
        .into_iter()
        .filter_map(|entry| {
            let words = match (entry.arguments, entry.command) {
                (Some(words), _) => words,
                (None, Some(command)) => split(&command),
                (None, None) => return None,
            };
            let folder = base.join(entry.directory);
            let (program, args) = checking(words)?;
            Some(Entry {
                file: folder.join(entry.file),
                folder,
                program,
                args,
            })
        })
        .collect();
    entries.sort_by(|one, other| one.file.cmp(&other.file));
    entries.dedup_by(|one, other| one.file == other.file);
    Ok(entries)
}

/// Options that shape what is printed.
const SHAPES: [&str; 5] = [
    "-fdiagnostics-color",
    "-fdiagnostics-column-",
    "-fdiagnostics-format=",
    "-fcolor-diagnostics",
    "-fansi-escape-codes",
];

/// Leaves out what writes files and what shapes the output. `None` when the command is no compiler that is known to check.
fn checking(words: Vec<String>) -> Option<(String, Vec<String>)> {
    let mut words = words.into_iter().peekable();
    let mut program = words.next()?;
    if matches!(base_name(&program), "ccache" | "sccache" | "distcc") {
        program = words.next()?;
    }
    if !is_compiler(base_name(&program)) {
        return None;
    }
    let mut args = vec!["-fsyntax-only".to_owned()];
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "-MF" | "-MT" | "-MQ" => {
                words.next();
            }
            "-c" | "-S" | "-E" | "-M" | "-MM" | "-MD" | "-MMD" | "-MP" | "-save-temps" => {}
            // Findings are read from plain lines whose columns the caller chose the unit of.
            word if SHAPES.iter().any(|shape| word.starts_with(shape)) => {}
            word if word.starts_with("-MF") || (word.starts_with("-o") && word.len() > 2) => {}
            _ => args.push(word),
        }
    }
    Some((program, args))
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// `cc`, `gcc-14`, `arm-none-eabi-g++`, `clang++-19`, ...: all take `-fsyntax-only`.
fn is_compiler(name: &str) -> bool {
    let stem = name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.' || ch == '-');
    let stem = stem.rsplit('-').next().unwrap_or(stem);
    matches!(stem, "cc" | "c++" | "gcc" | "g++" | "clang" | "clang++")
}

/// Splits a command as a shell splits words; expansions stay as they are.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(ch) = chars.next() {
        match (quote, ch) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(ch);
                word.get_or_insert_default();
            }
            (Some(open), ch) if ch == open => quote = None,
            (None | Some('"'), '\\') => {
                let next = chars.next().unwrap_or('\\');
                let word = word.get_or_insert_default();
                if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(next);
            }
            (_, ch) => word.get_or_insert_default().push(ch),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let command = r#"cc "-DA=\"x y\"" '-DB=a\b' -I/a\ b  "" -DC"d e""#;
        assert_eq!(
            split(command),
            ["cc", "-DA=\"x y\"", "-DB=a\\b", "-I/a b", "", "-DCd e"]
        );
    }

    // D3: the compiler over compile_commands.json writes nothing.
    #[test]
    fn a_command_keeps_what_it_needs_to_check_and_writes_nothing() {
        let text = r#"[
            {"directory": "out", "file": "../b.c", "command": "ccache gcc-13 -Wall -c -MD -MF b.d -o b.o ../b.c"},
            {"directory": "/abs", "file": "a.cc", "arguments": ["arm-none-eabi-g++", "-ob.o", "-Iinc", "-c", "-fcolor-diagnostics", "-fdiagnostics-format=json", "a.cc"]},
            {"directory": "/abs", "file": "c.c", "command": "rm -rf /"},
            {"directory": "/abs", "file": "d.c"}
        ]"#;
        let entries = entries(text, Path::new("/w")).unwrap();
        let shown: Vec<_> = entries
            .iter()
            .map(|entry| format!("{} {}", entry.program, entry.args.join(" ")))
            .collect();
        assert_eq!(
            shown,
            [
                "arm-none-eabi-g++ -fsyntax-only -Iinc a.cc",
                "gcc-13 -fsyntax-only -Wall ../b.c"
            ]
        );
        assert_eq!(entries[1].folder, Path::new("/w/out"));
        assert!(super::entries("{", Path::new("/w")).is_err());
    }
}
