//! What a server must be told about one project: its interpreter, its compiler.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::upwards;
use crate::child::Env;
use crate::lsp::servers::{Local, Ready, ServerRow};

/// Returns environment, init options and settings of a server of `row` in `root`.
pub(super) fn adapt(row: &ServerRow, root: &Path, top: &Path, env: &Env) -> (Env, Value, Value) {
    let mut env = env.clone();
    let mut init_options = row.init_options.clone();
    let mut settings = row.settings.clone();
    if row.ready == Ready::Listing {
        // What it logs tells when it has loaded: a user's level must not hide that.
        for place in [
            "/python/analysis/logLevel",
            "/python.analysis/logLevel",
            "/basedpyright/analysis/logLevel",
            "/basedpyright.analysis/logLevel",
        ] {
            if let Some(level) = settings.pointer_mut(place) {
                *level = json!("Information");
            }
        }
    }
    match row.local {
        Local::None => {}
        Local::Python => {
            if let Some(venv) = virtual_env(root, top, &env) {
                // Servers that find an environment themselves do so in the root only; pyright asks.
                let python = venv.join("bin/python");
                put(&mut settings, &["python", "pythonPath"], json!(python));
                env.set("VIRTUAL_ENV", &venv);
            }
        }
        Local::Node => {
            let lib = upwards(root, top)
                .map(|folder| folder.join("node_modules/typescript/lib"))
                .find(|lib| lib.join("tsserver.js").is_file());
            if let Some(lib) = lib
                && row.id == "typescript-language-server"
            {
                put(&mut init_options, &["tsserver", "path"], json!(lib));
            }
        }
    }
    (env, init_options, settings)
}

/// The environment of the root, of the nearest folder above it, or the one that is active.
fn virtual_env(root: &Path, top: &Path, env: &Env) -> Option<PathBuf> {
    upwards(root, top)
        .flat_map(|folder| [folder.join(".venv"), folder.join("venv")])
        .chain(env.get("VIRTUAL_ENV").map(PathBuf::from))
        .find(|venv| venv.join("bin/python").exists())
}

/// Sets a value in nested objects, unless one is there already.
fn put(value: &mut Value, path: &[&str], new: Value) {
    let Some((name, rest)) = path.split_first() else {
        if value.is_null() {
            *value = new;
        }
        return;
    };
    if value.is_null() {
        *value = json!({});
    }
    if let Value::Object(map) = value {
        put(map.entry(*name).or_insert(Value::Null), rest, new);
    }
}
