//! What one call brings along into the gate: who may stop it, and who decides about it.
//!
//! A call that says nothing is decided about by the approver of its run. What a caller says about approval
//! never weakens another call: an approval by the caller is for that call alone, an approver is for it and
//! for what is bridged out of it.

use std::fmt;
use std::sync::Arc;

use crate::cancel::Cancel;
use crate::run::approval::Approver;

/// What one call brings along; the default is a call of its own that policy decides.
#[derive(Clone, Default)]
pub struct CallOptions {
    pub(super) cancel: Cancel,
    pub(super) approved: bool,
    pub(super) approver: Option<Arc<dyn Approver>>,
}

impl CallOptions {
    /// Makes the options of a call that policy decides.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `cancel` stop the call.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Says that the caller approves the call itself, as somebody does who typed it (D42). What the call
    /// bridges to is still decided by policy.
    #[must_use]
    pub fn approved_by_caller(mut self) -> Self {
        self.approved = true;
        self
    }

    /// Asks this approver about the call, in the place of the run's own, and about every call that is
    /// bridged out of it, however deep (D42: a cell brings its own `--approve`).
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("cancel", &self.cancel)
            .field("approved", &self.approved)
            .finish_non_exhaustive()
    }
}
