//! The command `toolbox` as a person and a script meet it: flags, streams, exit codes.
//!
//! Every process gets an environment of its own: a home in the test's folder and nothing else, so that no
//! test sees what another staged.

mod bash;
mod edits;
mod eval;
mod files;
mod finding;
mod inspect;
mod output;
mod paths;
mod search;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use serde_json::{Value, json};

/// A checkout in a folder of its own, beside its home.
struct Checkout(tempfile::TempDir);

impl Checkout {
    fn new(files: &[(&str, &str)]) -> Self {
        let checkout = Self(tempfile::tempdir().expect("a folder"));
        fs::create_dir_all(checkout.path(".git")).expect("a folder");
        fs::create_dir_all(checkout.home()).expect("a folder");
        for (name, text) in files {
            checkout.write(name, text);
        }
        checkout
    }

    fn root(&self) -> PathBuf {
        let root = self.0.path().canonicalize().expect("it exists");
        root.join("checkout")
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a readable file")
    }

    /// The command in the root of the checkout, with these arguments.
    fn toolbox(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command
            .env_clear()
            .env("HOME", self.home())
            .current_dir(self.root())
            .timeout(Duration::from_secs(120))
            .args(args);
        command
    }

    /// Runs a command that prints one JSON object and ends with this code.
    #[track_caller]
    fn json(&self, args: &[&str], code: i32) -> Value {
        let assert = self.toolbox(args).arg("--json").assert().code(code);
        serde_json::from_slice(&assert.get_output().stdout).expect("one JSON object")
    }
}
