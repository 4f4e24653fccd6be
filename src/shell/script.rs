//! The two small scripts around a command, and what they report.
//!
//! The keeper is the head of the tree. It starts the shell that runs the command, reports how that shell
//! ended, and stays until its standard input ends, so that processes which outlive the shell have a parent
//! by which they are found. Reports go over the keeper's standard error, a pipe that nothing else has; the
//! shell reaches it by the keeper's number and never inherits it.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// `$1` is the shell, `$2` the prelude, `$3` the command.
///
/// The parentheses keep some shells from moving the keeper's own streams while the command runs. A caught
/// signal, unlike an ignored one, is back to its default in what the keeper starts. Its input ends
/// with the host alone: then it stays, as something that needs no shell, until the watcher has found the
/// tree by it.
pub(super) const KEEPER: &str = r#"
trap : HUP INT TERM
(exec "$1" -c "$2" "${1##*/}" "$3" "/proc/$$/fd/2" </dev/null 2>&1)
code=$?
exec >/dev/null
printf '\000x%s\000' "$code" >&2
exec 2>/dev/null
while :; do
    read -r _
    [ $? -gt 128 ] || break
done
trap '' HUP INT TERM
exec sleep 60
"#;

/// `$1` is the command, `$2` where the working folder is reported; the command sees neither.
///
/// It is one line, so that the shell counts the lines of the command from 1.
pub(super) const PRELUDE: &str = r#"__toolbox_command=$1; trap '{ set +x; } 2>/dev/null; command printf "\000d%s\000" "$(command pwd -P)" 2>/dev/null >'"$2" EXIT; shift 2; eval "$__toolbox_command""#;

/// What came over the pipe of reports.
#[derive(Debug, Default)]
pub(super) struct Reports {
    bytes: Vec<u8>,
    /// The folder that the shell was in at its end.
    pub(super) folder: Option<PathBuf>,
    /// How the shell ended, as shells count it: 128 and the signal's number for a signal.
    pub(super) code: Option<i32>,
}

/// The keeper's shell complains there too when the command's shell is killed; so much is kept of it.
const REPORT_BYTES: usize = 1 << 16;

impl Reports {
    /// Takes what was read; parts between two NUL bytes are reports, other text is not.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        while let Some(end) = self.bytes.iter().position(|byte| *byte == 0) {
            let part: Vec<u8> = self.bytes.drain(..=end).collect();
            match part.split_last().map(|(_, part)| part) {
                Some([b'd', folder @ ..]) if folder.first() == Some(&b'/') => {
                    let folder = std::ffi::OsString::from_vec(folder.to_vec());
                    self.folder = Some(PathBuf::from(folder));
                }
                Some([b'x', code @ ..]) => {
                    let code = std::str::from_utf8(code).ok();
                    self.code = code.and_then(|code| code.parse().ok());
                }
                _ => {}
            }
        }
        if self.bytes.len() > REPORT_BYTES {
            self.bytes.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R142: reports come in pieces, with noise between them.
    #[test]
    fn reports_are_told_from_noise() {
        let mut reports = Reports::default();
        for piece in [&b"\0d/a\nb\0bash: line 3: Ki"[..], b"lled\n\0x1", b"37\0"] {
            assert_eq!(reports.code, None);
            reports.take(piece);
        }
        assert_eq!(reports.folder, Some(PathBuf::from("/a\nb")));
        assert_eq!(reports.code, Some(137));
        reports.take(b"\0drelative\0\0x\0");
        assert_eq!(reports.folder, Some(PathBuf::from("/a\nb")));
        reports.take(&vec![b'y'; REPORT_BYTES + 1]);
        assert!(reports.bytes.is_empty());
    }
}
