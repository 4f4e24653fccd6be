//! What workers are called: a short name for whoever spawned them, and a UUID for the programs that they are.

use std::time::SystemTime;

use crate::files::ContentHash;

/// The name of a worker in calls and answers.
pub(super) fn id_of(number: u64) -> String {
    format!("worker_{number}")
}

/// The number in such a name.
pub(super) fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix("worker_")?.parse().ok()
}

/// Makes a UUID for a worker: nobody can tell it beforehand, and no two are the same.
pub(super) fn conversation(number: u64) -> String {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos();
    let seed = format!("{now} {} {number}", std::process::id());
    let hash = ContentHash::of(seed.as_bytes()).to_string();
    let mut digits: Vec<char> = hash.chars().take(32).collect();
    // Version and variant (RFC 9562): a UUID of the maker's own design.
    digits[12] = '8';
    digits[16] = 'a';
    let mut uuid = String::with_capacity(36);
    for (idx, digit) in digits.into_iter().enumerate() {
        if [8, 12, 16, 20].contains(&idx) {
            uuid.push('-');
        }
        uuid.push(digit);
    }
    uuid
}
