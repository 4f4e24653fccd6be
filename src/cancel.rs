//! The cancel token that every long operation looks at.
//!
//! One token belongs to one call. Engines poll it at natural boundaries (a file, a batch of nodes);
//! what blocks on a child, a queue or an answer registers a waker instead, so that nothing has to poll
//! on a timer. A token may have children (a call bridged out of a call, the calls of a run): cancelling
//! the parent cancels them, never the other way round. The token carries no reason.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tells a running operation to stop; clones share one state.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

/// Keeps a waker registered; dropping it takes the waker back.
#[must_use = "dropping the guard takes the waker back at once"]
pub struct CancelGuard {
    inner: Arc<Inner>,
    key: u64,
}

type Waker = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    wakers: Mutex<Wakers>,
    /// Ties a child to its parent for as long as any clone of the child lives.
    parent: Option<CancelGuard>,
}

#[derive(Default)]
struct Wakers {
    next: u64,
    waiting: BTreeMap<u64, Waker>,
}

impl Cancel {
    /// Makes a token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a token that is cancelled with this one, and can be cancelled without it.
    pub fn child(&self) -> Self {
        // The child owns the guard that owns the waker, so the waker must not own the child.
        Self(Arc::new_cyclic(|child: &std::sync::Weak<Inner>| {
            let child = child.clone();
            Inner {
                // A parent that is cancelled already cannot reach the child through the weak link yet.
                cancelled: AtomicBool::new(false),
                wakers: Mutex::default(),
                parent: Some(self.on_cancel(move || {
                    if let Some(child) = child.upgrade() {
                        child.cancel();
                    }
                })),
            }
        }))
        .settled(self)
    }

    /// Asks the operation to stop. Cancelling twice is harmless.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Tells whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Calls `waker` once when the token is cancelled, at once when it already is.
    ///
    /// The waker runs on the thread that cancels, with no lock of the token held.
    pub fn on_cancel(&self, waker: impl Fn() + Send + Sync + 'static) -> CancelGuard {
        let waker: Waker = Arc::new(waker);
        let mut wakers = self.0.lock();
        let key = wakers.next;
        wakers.next += 1;
        // The flag is read under the lock that `cancel` takes after setting it: either it is seen here,
        // or `cancel` sees the waker.
        let late = self.is_cancelled();
        if !late {
            wakers.waiting.insert(key, Arc::clone(&waker));
        }
        drop(wakers);
        if late {
            waker();
        }
        CancelGuard {
            inner: Arc::clone(&self.0),
            key,
        }
    }

    /// Tells whether the token is `ancestor` or descends from it: to whose call a bridged call belongs.
    pub fn is_within(&self, ancestor: &Cancel) -> bool {
        let mut inner = &self.0;
        loop {
            if Arc::ptr_eq(inner, &ancestor.0) {
                return true;
            }
            match &inner.parent {
                Some(guard) => inner = &guard.inner,
                None => return false,
            }
        }
    }

    fn settled(self, parent: &Cancel) -> Self {
        if parent.is_cancelled() {
            self.cancel();
        }
        self
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Wakers> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut self.lock().waiting);
        for waker in waiting.into_values() {
            waker();
        }
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        // The waker is dropped outside the lock: it may own another guard of the same token.
        let waker = self.inner.lock().waiting.remove(&self.key);
        drop(waker);
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel")
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CancelGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelGuard").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_parent_cancels_its_children_and_never_the_other_way_round() {
        let parent = Cancel::new();
        let child = parent.child();
        let grandchild = child.child();
        let sibling = parent.child();
        child.cancel();
        assert!(child.is_cancelled() && grandchild.is_cancelled());
        assert!(!parent.is_cancelled() && !sibling.is_cancelled());
        assert!(grandchild.is_within(&parent) && child.is_within(&child));
        assert!(!parent.is_within(&child) && !sibling.is_within(&child));
        parent.cancel();
        assert!(sibling.is_cancelled());
        assert!(
            parent.child().is_cancelled(),
            "a child of a cancelled token is born cancelled"
        );
    }

    #[test]
    fn a_waker_runs_once_and_not_after_its_guard_is_gone() {
        let token = Cancel::new();
        let count = Arc::new(AtomicUsize::new(0));
        let bump = {
            let count = Arc::clone(&count);
            move || {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        let kept = token.on_cancel(bump.clone());
        drop(token.on_cancel(bump.clone()));
        token.cancel();
        token.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        let late = token.on_cancel(bump);
        assert_eq!(count.load(Ordering::SeqCst), 2, "a late waker runs at once");
        drop((kept, late));
    }

    #[test]
    fn a_dropped_child_leaves_nothing_in_its_parent() {
        let parent = Cancel::new();
        for _ in 0..10 {
            drop(parent.child());
        }
        assert!(parent.0.lock().waiting.is_empty());
    }
}
