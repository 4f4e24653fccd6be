//! Where a server's project begins.

use std::fs;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};

use super::{Root, upwards};
use crate::lsp::servers::{LOCK_FILES, NODE_PROJECTS, RootRule};

/// Finds the root of the project that `path` is in, never above `top`.
pub(super) fn find(rule: &RootRule, path: &Path, top: &Path) -> Option<Root> {
    // A path that is a folder is looked into itself.
    let start = if path.is_dir() { path } else { path.parent()? };
    match rule {
        RootRule::Markers(groups) => groups.iter().find_map(|group| {
            let names: Vec<&str> = group.iter().map(String::as_str).collect();
            nearest(&names, start, top)
        }),
        RootRule::Cargo => {
            cargo(start, top).or_else(|| nearest(&["rust-project.json"], start, top))
        }
        RootRule::Pubspec => pubspec(start, top),
        RootRule::Node => {
            let node = nearest(&LOCK_FILES, start, top)
                .or_else(|| node_workspace(start, top))
                .or_else(|| nearest(&NODE_PROJECTS, start, top))?;
            let deno = nearest(&["deno.json", "deno.jsonc"], start, top);
            let is_nearer = |deno: &Root| deno.folder.starts_with(&node.folder);
            (!deno.as_ref().is_some_and(is_nearer)).then_some(node)
        }
    }
}

/// The topmost folder that says that packages or projects below it belong together: servers of their own would
/// not know of each other.
fn node_workspace(start: &Path, top: &Path) -> Option<Root> {
    let says = |folder: &Path, name: &str, word: &str| {
        // Both may have comments in them, so they are not parsed.
        fs::read_to_string(folder.join(name)).is_ok_and(|text| text.contains(word))
    };
    let declared = |folder: &Path| {
        let files = ["pnpm-workspace.yaml", "lerna.json"];
        let file = files.into_iter().find(|name| folder.join(name).is_file());
        let by_key = [
            ("package.json", "\"workspaces\""),
            ("tsconfig.json", "\"references\""),
        ];
        let keyed = by_key
            .into_iter()
            .find(|(name, word)| says(folder, name, word));
        file.or(keyed.map(|(name, _)| name))
    };
    let folders = upwards(start, top).filter_map(|folder| Some((folder, declared(folder)?)));
    folders.last().map(|(folder, marker)| Root {
        folder: folder.to_path_buf(),
        marker: marker.to_owned(),
    })
}

/// Returns the nearest folder with one of the markers.
fn nearest(markers: &[&str], start: &Path, top: &Path) -> Option<Root> {
    upwards(start, top).find_map(|folder| {
        let marker = markers.iter().find(|marker| is_there(folder, marker))?;
        Some(Root {
            folder: folder.to_path_buf(),
            marker: (*marker).to_owned(),
        })
    })
}

/// Tells whether a marker is in a folder; `*.sln` is a pattern for a name.
fn is_there(folder: &Path, marker: &str) -> bool {
    if !marker.contains('*') {
        return folder.join(marker).exists();
    }
    let Ok(glob) = Glob::new(marker) else {
        return false;
    };
    let glob: GlobMatcher = glob.compile_matcher();
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries
        .filter_map(Result::ok)
        .any(|entry| glob.is_match(entry.file_name()))
}

/// The workspace of the nearest package, without asking cargo: what it names, or the nearest folder above
/// whose `[workspace]` takes it in.
fn cargo(start: &Path, top: &Path) -> Option<Root> {
    let root = |folder: &Path| Root {
        folder: folder.to_path_buf(),
        marker: "Cargo.toml".to_owned(),
    };
    let package = nearest(&["Cargo.toml"], start, top)?.folder;
    let manifest = manifest(&package);
    if manifest.get("workspace").is_some() {
        return Some(root(&package));
    }
    let named = manifest
        .get("package")
        .and_then(|package| package.get("workspace"));
    if let Some(named) = named.and_then(toml::Value::as_str)
        && let Ok(folder) = package.join(named).canonicalize()
        && folder.starts_with(top)
    {
        return Some(root(&folder));
    }
    let workspace = upwards(&package, top)
        .skip(1)
        .find(|folder| takes_in(folder, &package));
    Some(root(workspace.unwrap_or(&package)))
}

/// Tells whether the workspace in `folder`, if there is one, takes a package in.
fn takes_in(folder: &Path, package: &Path) -> bool {
    let manifest = manifest(folder);
    let (Some(workspace), Ok(inside)) = (manifest.get("workspace"), package.strip_prefix(folder))
    else {
        return false;
    };
    let list = |name: &str| -> Vec<String> {
        let list = workspace.get(name).and_then(toml::Value::as_array);
        let texts = list.into_iter().flatten().filter_map(toml::Value::as_str);
        texts
            .map(|text| text.trim_end_matches('/').to_owned())
            .collect()
    };
    if list("exclude")
        .iter()
        .any(|excluded| inside.starts_with(excluded))
    {
        return false;
    }
    // A package that is reached by a path dependency is a member too; every package below a workspace that
    // lists members and not this one is taken for such, unless it is excluded. Cargo decides finally.
    let members = list("members");
    let is_member = |member: &String| {
        Glob::new(member).is_ok_and(|glob| glob.compile_matcher().is_match(inside))
    };
    members.is_empty() || members.iter().any(is_member) || is_dependency(&manifest, folder, package)
}

/// Tells whether the root package of a workspace depends on a package by its path.
fn is_dependency(manifest: &toml::Table, folder: &Path, package: &Path) -> bool {
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table())
        .flat_map(|section| section.values())
        .filter_map(|dependency| dependency.get("path")?.as_str())
        .any(|path| {
            let path: PathBuf = folder.join(path);
            path.canonicalize().is_ok_and(|path| path == package)
        })
}

fn manifest(folder: &Path) -> toml::Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// The topmost package that declares a workspace, else the nearest package.
fn pubspec(start: &Path, top: &Path) -> Option<Root> {
    let root = |folder: &Path| Root {
        folder: folder.to_path_buf(),
        marker: "pubspec.yaml".to_owned(),
    };
    let packages = upwards(start, top).filter(|folder| folder.join("pubspec.yaml").exists());
    let packages: Vec<&Path> = packages.collect();
    let declares = |folder: &&&Path| {
        let text = fs::read_to_string(folder.join("pubspec.yaml")).unwrap_or_default();
        text.lines().any(|line| line.starts_with("workspace:"))
    };
    let topmost = packages.iter().rev().find(declares);
    topmost.or(packages.first()).map(|folder| root(folder))
}
