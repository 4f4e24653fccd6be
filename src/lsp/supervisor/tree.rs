//! The files of a workspace as they looked last, and what changed since.
//!
//! A look costs one question to the system for each file and folder: a folder is listed again only where
//! its own time says that something in it came or went, and the whole tree only where a rule of what is
//! ignored changed. It knows no server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use ignore::{DirEntry, WalkState};

use crate::files::ContentHash;
use crate::lsp::client::FileChange;
use crate::lsp::documents::Stamp;
use crate::walk::{WalkOptions, builder};

/// Which files are looked at, and how many at most.
pub(crate) struct Scope<'a> {
    pub(crate) roots: &'a [PathBuf],
    pub(crate) takes: &'a (dyn Fn(&Path) -> bool + Sync),
    pub(crate) max_files: usize,
}

/// How the files looked last time.
#[derive(Debug)]
pub(crate) struct Tree {
    files: BTreeMap<PathBuf, Stamp>,
    folders: BTreeMap<PathBuf, Stamp>,
    /// The files that say what is ignored.
    rules: BTreeMap<PathBuf, Stamp>,
    /// How many files there are beyond the bound.
    n_unseen: usize,
    /// The content of the files that changed so shortly before the last look that a later change may not
    /// show in their time.
    fresh: BTreeMap<PathBuf, ContentHash>,
    /// When the last look began.
    taken: SystemTime,
}

/// What a folder has, with everything below it or with its own entries alone.
#[derive(Default)]
struct Listing {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

/// The names of the files that say what is ignored.
const RULES: [&str; 2] = [".gitignore", ".ignore"];

/// The clock of file systems ticks in milliseconds: what changed so shortly before a look may change once
/// more without its time changing.
const TICK: Duration = Duration::from_millis(10);

/// So many files are looked at on one thread.
const CHUNK: usize = 4_096;

impl Tree {
    /// Looks at everything for the first time.
    pub(crate) fn read(scope: &Scope<'_>) -> Self {
        let taken = SystemTime::now();
        let mut listing = Listing::default();
        for root in scope.roots {
            let mut below = list(root, None, scope);
            listing.files.append(&mut below.files);
            listing.folders.append(&mut below.folders);
        }
        let n_files = listing.files.len();
        let mut tree = Self {
            files: BTreeMap::new(),
            folders: BTreeMap::new(),
            rules: BTreeMap::new(),
            n_unseen: n_files.saturating_sub(scope.max_files),
            fresh: BTreeMap::new(),
            taken,
        };
        for folder in listing.folders {
            tree.add_folder(folder);
        }
        for file in listing.files.into_iter().take(scope.max_files) {
            if let Some(stamp) = Stamp::of(&file) {
                tree.files.insert(file, stamp);
            }
        }
        tree.note_fresh();
        tree
    }

    /// Returns the files that are looked at, sorted.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Returns the files that do not look as they did last; the next look finds them, too.
    pub(crate) fn differing(&self) -> impl Iterator<Item = PathBuf> {
        let is_other = |(path, stamp): &(&PathBuf, &Stamp)| Stamp::of(path) != Some(**stamp);
        let others = self.files.iter().filter(is_other);
        others.map(|(path, _)| path.clone())
    }

    /// Returns how many files are not looked at.
    pub(crate) fn n_unseen(&self) -> usize {
        self.n_unseen
    }

    /// Looks again, and returns what changed, sorted by path within each kind of change.
    pub(crate) fn look(&mut self, scope: &Scope<'_>) -> Vec<(PathBuf, FileChange)> {
        if self.has_new_rules() {
            let now = Self::read(scope);
            let changes = differences(&self.files, &now.files);
            *self = now;
            return changes;
        }
        let last = std::mem::replace(&mut self.taken, SystemTime::now());
        let is_stale = |(folder, stamp): &(&PathBuf, &Stamp)| {
            Stamp::of(folder) != Some(**stamp) || stamp.is_within(TICK, last)
        };
        let stale: Vec<PathBuf> = self
            .folders
            .iter()
            .filter(is_stale)
            .map(|(folder, _)| folder.clone())
            .collect();
        let mut changes = self.restamp();
        for folder in stale {
            if !self.list_again(&folder, scope, &mut changes) {
                let now = Self::read(scope);
                changes.extend(differences(&self.files, &now.files));
                *self = now;
                break;
            }
        }
        self.note_fresh();
        changes.sort_by(|(one, _), (other, _)| one.cmp(other));
        changes
    }

    fn note_fresh(&mut self) {
        let taken = self.taken;
        let is_fresh = |(_, stamp): &(&PathBuf, &Stamp)| stamp.is_within(TICK, taken);
        let fresh = self.files.iter().filter(is_fresh);
        self.fresh = fresh
            .filter_map(|(path, _)| Some((path.clone(), content(path)?)))
            .collect();
    }

    fn has_new_rules(&self) -> bool {
        let is_new = |(path, stamp): (&PathBuf, &Stamp)| Stamp::of(path) != Some(*stamp);
        self.rules.iter().any(is_new)
    }

    fn add_folder(&mut self, folder: PathBuf) {
        for name in RULES {
            let rule = folder.join(name);
            if let Some(stamp) = Stamp::of(&rule) {
                self.rules.insert(rule, stamp);
            }
        }
        if let Some(stamp) = Stamp::of(&folder) {
            self.folders.insert(folder, stamp);
        }
    }

    /// Looks at every known file.
    fn restamp(&mut self) -> Vec<(PathBuf, FileChange)> {
        let Self { files, fresh, .. } = self;
        let is_other = |path: &Path| {
            let known = fresh.get(path);
            known.is_some_and(|known| content(path).as_ref() != Some(known))
        };
        let mut known: Vec<(&PathBuf, &mut Stamp)> = files.iter_mut().collect();
        let look = |chunk: &mut [(&PathBuf, &mut Stamp)]| {
            let mut changes = Vec::new();
            for (path, stamp) in chunk {
                let change = match Stamp::of(path) {
                    None => FileChange::Deleted,
                    Some(now) if now != **stamp || is_other(path) => {
                        **stamp = now;
                        FileChange::Changed
                    }
                    Some(_) => continue,
                };
                changes.push((path.clone(), change));
            }
            changes
        };
        let changes: Vec<(PathBuf, FileChange)> = match known.len() <= CHUNK {
            true => look(&mut known),
            false => thread::scope(|scope| {
                let n_threads = thread::available_parallelism().map_or(1, usize::from);
                let size = known.len().div_ceil(n_threads).max(CHUNK);
                let chunks: Vec<_> = known
                    .chunks_mut(size)
                    .map(|chunk| scope.spawn(|| look(chunk)))
                    .collect();
                let joined = chunks.into_iter().map(thread::ScopedJoinHandle::join);
                joined.flatten().flatten().collect()
            }),
        };
        for (path, change) in &changes {
            if *change == FileChange::Deleted {
                self.files.remove(path);
            }
        }
        changes
    }

    /// Lists a folder in which something came or went. `false` where that may change what is ignored.
    fn list_again(
        &mut self,
        folder: &Path,
        scope: &Scope<'_>,
        changes: &mut Vec<(PathBuf, FileChange)>,
    ) -> bool {
        // It may be gone with a folder that was listed before it.
        if !self.folders.contains_key(folder) {
            return true;
        }
        let Some(stamp) = Stamp::of(folder) else {
            self.remove_folder(folder, changes);
            return true;
        };
        let has_rules = |name: &&str| {
            let rule = folder.join(name);
            rule.exists() && !self.rules.contains_key(&rule)
        };
        if RULES.iter().any(has_rules) {
            return false;
        }
        self.folders.insert(folder.to_path_buf(), stamp);
        let listing = list(folder, Some(1), scope);
        let known = self
            .folders
            .keys()
            .filter(|known| known.parent() == Some(folder));
        let gone: Vec<PathBuf> = known
            .filter(|known| !listing.folders.contains(*known))
            .cloned()
            .collect();
        for folder in gone {
            self.remove_folder(&folder, changes);
        }
        self.add_files(listing.files, scope, changes);
        for folder in listing.folders {
            if !self.folders.contains_key(&folder) {
                let below = list(&folder, None, scope);
                for folder in below.folders {
                    self.add_folder(folder);
                }
                self.add_files(below.files, scope, changes);
            }
        }
        true
    }

    fn add_files(
        &mut self,
        files: BTreeSet<PathBuf>,
        scope: &Scope<'_>,
        changes: &mut Vec<(PathBuf, FileChange)>,
    ) {
        for file in files {
            if self.files.contains_key(&file) {
                continue;
            }
            if self.files.len() >= scope.max_files {
                self.n_unseen += 1;
            } else if let Some(stamp) = Stamp::of(&file) {
                self.files.insert(file.clone(), stamp);
                changes.push((file, FileChange::Created));
            }
        }
    }

    fn remove_folder(&mut self, folder: &Path, changes: &mut Vec<(PathBuf, FileChange)>) {
        self.folders.retain(|path, _| !path.starts_with(folder));
        self.rules.retain(|path, _| !path.starts_with(folder));
        self.files.retain(|path, _| {
            let is_gone = path.starts_with(folder);
            if is_gone {
                changes.push((path.clone(), FileChange::Deleted));
            }
            !is_gone
        });
    }
}

/// Lists what is not ignored below a folder, to a depth; the folder itself is among its folders.
fn list(folder: &Path, depth: Option<usize>, scope: &Scope<'_>) -> Listing {
    let listing = Mutex::new(Listing::default());
    let Ok(mut walk) = builder(folder, &WalkOptions::default()) else {
        return Listing::default();
    };
    walk.max_depth(depth);
    let take = |entry: Result<DirEntry, ignore::Error>| {
        // What cannot be read is not there for a server either.
        let Some((entry, kind)) = entry.ok().and_then(|entry| {
            let kind = entry.file_type()?;
            Some((entry, kind))
        }) else {
            return;
        };
        let is_taken = kind.is_file() && (scope.takes)(entry.path());
        if kind.is_dir() || is_taken {
            let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
            match kind.is_dir() {
                true => listing.folders.insert(entry.into_path()),
                false => listing.files.insert(entry.into_path()),
            };
        }
    };
    match depth {
        // Starting threads costs more than the entries of one folder.
        Some(_) => walk.build().for_each(take),
        None => walk.build_parallel().run(|| {
            Box::new(|entry| {
                take(entry);
                WalkState::Continue
            })
        }),
    }
    listing.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn content(path: &Path) -> Option<ContentHash> {
    fs::read(path).ok().map(|bytes| ContentHash::of(&bytes))
}

fn differences(
    before: &BTreeMap<PathBuf, Stamp>,
    now: &BTreeMap<PathBuf, Stamp>,
) -> Vec<(PathBuf, FileChange)> {
    let mut changes = Vec::new();
    for (path, stamp) in now {
        match before.get(path) {
            None => changes.push((path.clone(), FileChange::Created)),
            Some(old) if old != stamp => changes.push((path.clone(), FileChange::Changed)),
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    changes.extend(gone.map(|path| (path.clone(), FileChange::Deleted)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a tree over its `.fk` files.
    struct Bed {
        temp: tempfile::TempDir,
        max_files: usize,
        tree: Option<Tree>,
    }

    impl Bed {
        fn new(max_files: usize, files: &[&str]) -> Self {
            let bed = Self {
                temp: tempfile::tempdir().expect("a folder"),
                max_files,
                tree: None,
            };
            fs::create_dir(bed.temp.path().join(".git")).expect("writable");
            files.iter().for_each(|file| bed.write(file, "1"));
            bed
        }

        fn write(&self, file: &str, text: &str) {
            let path = self.temp.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
            fs::write(path, text).expect("writable");
        }

        /// What changed since the last look.
        fn changes(&mut self) -> Vec<(String, FileChange)> {
            let takes = |path: &Path| path.extension().is_some_and(|ending| ending == "fk");
            let roots = [self.temp.path().to_path_buf()];
            let scope = Scope {
                roots: &roots,
                takes: &takes,
                max_files: self.max_files,
            };
            let root = self.temp.path().to_path_buf();
            match &mut self.tree {
                None => {
                    self.tree = Some(Tree::read(&scope));
                    Vec::new()
                }
                Some(tree) => {
                    let changes = tree.look(&scope).into_iter();
                    let shown = |path: PathBuf| {
                        let inside = path.strip_prefix(&root).expect("inside");
                        inside.to_string_lossy().into_owned()
                    };
                    changes
                        .map(|(path, change)| (shown(path), change))
                        .collect()
                }
            }
        }
    }

    fn pairs(changes: &[(&str, FileChange)]) -> Vec<(String, FileChange)> {
        let owned = |(path, change): &(&str, FileChange)| ((*path).to_owned(), *change);
        changes.iter().map(owned).collect()
    }

    // Issue 4, point 4: whatever anyone does to a file that nobody has open is seen by the next look.
    #[test]
    fn every_change_is_seen_by_the_next_look() {
        use FileChange::{Changed, Created, Deleted};
        let mut bed = Bed::new(100, &["a.fk", "sub/b.fk", "sub/deep/c.fk", "x.txt"]);
        bed.changes();
        assert_eq!(bed.changes(), pairs(&[]));
        bed.write("sub/b.fk", "2");
        assert_eq!(bed.changes(), pairs(&[("sub/b.fk", Changed)]));
        assert_eq!(bed.changes(), pairs(&[]));
        bed.write("sub/new/n.fk", "1");
        bed.write("sub/new/n.txt", "1");
        bed.write("d.fk", "1");
        assert_eq!(
            bed.changes(),
            pairs(&[("d.fk", Created), ("sub/new/n.fk", Created)])
        );
        assert_eq!(bed.changes(), pairs(&[]));
        fs::remove_file(bed.temp.path().join("d.fk")).expect("it is there");
        fs::rename(bed.temp.path().join("sub"), bed.temp.path().join("moved")).expect("moved");
        assert_eq!(
            bed.changes(),
            pairs(&[
                ("d.fk", Deleted),
                ("moved/b.fk", Created),
                ("moved/deep/c.fk", Created),
                ("moved/new/n.fk", Created),
                ("sub/b.fk", Deleted),
                ("sub/deep/c.fk", Deleted),
                ("sub/new/n.fk", Deleted),
            ])
        );
    }

    // A second change within one tick of the clock, of the same size, is seen as well.
    #[test]
    fn a_change_within_a_tick_is_seen() {
        let mut bed = Bed::new(100, &["a.fk"]);
        bed.changes();
        for n in 0..20 {
            bed.write("a.fk", ["2", "3"][n % 2]);
            assert_eq!(
                bed.changes(),
                pairs(&[("a.fk", FileChange::Changed)]),
                "{n}"
            );
        }
    }

    // A new rule of what is ignored takes files out of sight and brings them back.
    #[test]
    fn rules_count_from_the_moment_they_change() {
        use FileChange::{Created, Deleted};
        let mut bed = Bed::new(100, &["a.fk", "out/b.fk"]);
        bed.changes();
        bed.write(".gitignore", "out/\n");
        let changes = bed.changes();
        assert!(
            changes.contains(&("out/b.fk".to_owned(), Deleted)),
            "{changes:?}"
        );
        bed.write(".gitignore", "nothing\n");
        let changes = bed.changes();
        assert!(
            changes.contains(&("out/b.fk".to_owned(), Created)),
            "{changes:?}"
        );
        bed.write("out/.ignore", "b.fk\n");
        let changes = bed.changes();
        assert!(
            changes.contains(&("out/b.fk".to_owned(), Deleted)),
            "{changes:?}"
        );
    }

    // The bound is kept, and how many are left out is known: at the bound none, beyond it one.
    #[test]
    fn files_beyond_the_bound_are_counted() {
        for (max_files, n_unseen) in [(3, 0), (2, 1)] {
            let mut bed = Bed::new(max_files, &["a.fk", "b.fk", "c.fk"]);
            bed.changes();
            assert_eq!(bed.tree.as_ref().map(Tree::n_unseen), Some(n_unseen));
        }
    }

    #[test]
    fn what_is_new_changed_or_gone_is_told() {
        let temp = tempfile::tempdir().expect("a folder");
        let stamp = |text: &str| {
            let path = temp.path().join("f");
            fs::write(&path, text).expect("writable");
            Stamp::of(&path).expect("it exists")
        };
        let (one, two) = (stamp("1"), stamp("22"));
        let map = |pairs: &[(&str, Stamp)]| {
            pairs
                .iter()
                .map(|(path, stamp)| (PathBuf::from(path), *stamp))
                .collect()
        };
        let before = map(&[("/a", one), ("/b", one), ("/c", one)]);
        let now = map(&[("/a", one), ("/b", two), ("/d", one)]);
        let expected = [
            (PathBuf::from("/b"), FileChange::Changed),
            (PathBuf::from("/d"), FileChange::Created),
            (PathBuf::from("/c"), FileChange::Deleted),
        ];
        assert_eq!(differences(&before, &now), expected);
        assert_eq!(differences(&now, &now), []);
    }
}
