//! Who decides whether a call may run.
//!
//! The port carries what a card needs: the tool, its arguments and where the call comes from. A refusal is
//! the default of everything that cannot ask (D37). Policy lives behind the port, never in the gate.

use std::sync::Arc;

use serde_json::Value;

use crate::cancel::Cancel;
use crate::tool::{Chain, Tier, ToolSpec};

/// Decides about calls; it may block while somebody is asked.
pub trait Approver: Send + Sync {
    /// Decides about one call. A cancelled token withdraws the question.
    fn approve(&self, request: &ApprovalRequest<'_>) -> Approval;
}

/// The call that waits for a decision. Its arguments fit the schema.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRequest<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// The arguments.
    pub args: &'a Value,
    /// The calls that this one is nested in, outermost first; empty for a call of its own.
    pub outer: &'a Chain,
    /// Says when nobody waits for the answer any more.
    pub cancel: &'a Cancel,
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// The call runs.
    Granted,
    /// Nothing runs, for this reason.
    Denied(String),
}

/// Approves everything up to a fixed tier and refuses the rest without asking anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoApprove(Tier);

impl AutoApprove {
    /// Approves calls of `tier` and below.
    pub const fn up_to(tier: Tier) -> Self {
        Self(tier)
    }
}

impl Default for AutoApprove {
    fn default() -> Self {
        Self::up_to(Tier::Read)
    }
}

impl<A: Approver + ?Sized> Approver for Arc<A> {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        (**self).approve(request)
    }
}

impl Approver for AutoApprove {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let Self(ceiling) = *self;
        if request.spec.tier <= ceiling {
            return Approval::Granted;
        }
        Approval::Denied(format!(
            "its tier is {}, calls up to {ceiling} are approved here, and nobody is there to ask",
            request.spec.tier
        ))
    }
}
