//! The match that a finished program has found: its captures, and where it ends (D13).

use crate::syntax::matcher::machine::Machine;
use crate::syntax::matcher::{Capture, Match};
use crate::syntax::pattern::{Spine, SpineStep};

impl Machine<'_> {
    /// The match from `root` to the sibling before `idx`.
    pub(super) fn finish(&self, root: u32, idx: u32) -> Match {
        let flat = self.flat;
        let last = if self.pattern.sequence {
            self.sibling_before(idx, flat.node(root).parent)
        } else {
            root
        };
        let end = self.match_end(last);
        Match {
            range: flat.node(root).start..end,
            root,
            root_end: idx,
            captures: self
                .bound
                .iter()
                .map(|c| {
                    c.unwrap_or(Capture {
                        nodes: (0, 0),
                        bytes: (0, 0),
                    })
                })
                .collect(),
        }
    }

    /// The end of a match whose last root is `last`: before a terminator that the pattern lacks (D13).
    fn match_end(&self, last: u32) -> u32 {
        let flat = self.flat;
        let levels = match &self.pattern.spine {
            Spine::Closed => return flat.node(last).end,
            Spine::Over { terminator } => {
                let end = flat.node(last).end;
                let rest = &self.source[end as usize..];
                let blanks = rest
                    .iter()
                    .take_while(|b| matches!(b, b' ' | b'\t'))
                    .count();
                let written = rest[blanks..].starts_with(terminator.as_bytes());
                return if written {
                    end + (blanks + terminator.len()) as u32
                } else {
                    end
                };
            }
            Spine::Open { levels } => levels,
        };
        let mut idx = last;
        for level in levels {
            let children: Vec<u32> = flat.children(idx).collect();
            let step = match level {
                SpineStep::Last => children.last(),
                SpineStep::BeforeTerminator => {
                    children.len().checked_sub(2).and_then(|i| children.get(i))
                }
            };
            let Some(next) = step else {
                break;
            };
            idx = *next;
        }
        flat.node(idx).end
    }
}
