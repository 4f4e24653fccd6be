//! Paths that were probably meant by one that does not exist, and what is in a folder.

use std::fs;
use std::path::Path;

use ignore::WalkBuilder;

use crate::limits;
use crate::registry::nearest::nearest;
use crate::workspace::Workspace;

/// Paths that are suggested at most.
const SUGGESTIONS: usize = 3;

/// Finds paths near one that does not exist: names in its folder that are alike or differ in the extension
/// or the case, then files of that name anywhere in the workspace.
pub(super) fn suggestions(workspace: &Workspace, real: &Path) -> Vec<String> {
    let Some(name) = real.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let mut near: Vec<String> = Vec::new();
    if let Some(folder) = real.parent().filter(|folder| workspace.contains(folder)) {
        for sibling in in_folder(folder, name) {
            near.push(workspace.display(&folder.join(sibling)));
        }
    }
    if near.len() < SUGGESTIONS {
        for path in elsewhere(workspace, real, name) {
            if !near.contains(&path) {
                near.push(path);
            }
        }
    }
    near.truncate(SUGGESTIONS);
    near
}

/// Lists what is in a folder, folders with a `/`.
pub(super) fn entries(folder: &Path) -> String {
    let names = names(folder);
    let shown = names.len().min(limits::FOLDER_ENTRIES);
    let listed = names[..shown].join(", ");
    match names.len() - shown {
        0 if names.is_empty() => "it is empty".to_owned(),
        0 => format!("name a file; it holds {listed}"),
        more => format!("name a file; it holds {listed} and {more} more"),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .take(limits::NEAR_PATH_ENTRIES)
        .map(|entry| {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let slash = if is_dir { "/" } else { "" };
            let name = entry.file_name();
            format!("{}{slash}", name.to_string_lossy().escape_debug())
        })
        .collect();
    names.sort();
    names
}

fn in_folder(folder: &Path, name: &str) -> Vec<String> {
    let names = names(folder);
    let bare: Vec<&str> = names
        .iter()
        .map(|name| name.trim_end_matches('/'))
        .collect();
    let mut near: Vec<String> = nearest(name, &bare)
        .into_iter()
        .map(str::to_owned)
        .collect();
    let stem = |name: &str| {
        name.split_once('.')
            .map_or(name, |(stem, _)| stem)
            .to_lowercase()
    };
    let same_stem = bare.iter().filter(|other| stem(other) == stem(name));
    for other in same_stem {
        if !near.iter().any(|known| known == other) {
            near.push((*other).to_owned());
        }
    }
    near
}

/// Finds files of this name; those that share more of the path's end come first.
fn elsewhere(workspace: &Workspace, real: &Path, name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let walk = WalkBuilder::new(workspace.root())
        .sort_by_file_name(std::cmp::Ord::cmp)
        .build();
    let mut found: Vec<(usize, String)> = walk
        .take(limits::NEAR_PATH_ENTRIES)
        .flatten()
        .filter(|entry| {
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            is_file && entry.file_name().to_string_lossy().to_lowercase() == lower
        })
        .map(|entry| {
            let shared = entry
                .path()
                .components()
                .rev()
                .zip(real.components().rev())
                .take_while(|(one, other)| one == other)
                .count();
            (shared, workspace.display(entry.path()))
        })
        .collect();
    found.sort_by(|(one, path), (other, other_path)| other.cmp(one).then(path.cmp(other_path)));
    found.into_iter().map(|(_, path)| path).collect()
}
