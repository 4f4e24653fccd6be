//! Approvals: who decides about a call and what it reaches, the rules of a policy, and cards.

mod cards;
mod gate;
mod rules;
mod targets;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolbox::registry::Registry;
use toolbox::run::{
    Approval, ApprovalRequest, Approver, AutoApprove, CallOptions, Decision, Policy, Rule, Run,
    SubjectKind, Target,
};
use toolbox::tool::{Call, ErrorKind, Output, Tier, ToolError, ToolSpec};
use toolbox::workspace::Workspace;

/// What the tools of a test were run with.
type Ran = Arc<Mutex<Vec<String>>>;

fn spec(name: &str, tier: Tier) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        tier,
        parallel_safe: true,
        description: format!("The tool {name}."),
        schema: json!({"type": "object"}),
    }
}

/// A tool that notes its arguments.
fn noting(ran: &Ran) -> impl Fn(&Call<'_>, Value) -> Result<Output, ToolError> + use<> {
    let ran = Arc::clone(ran);
    move |_call, args| {
        ran.lock().expect("free").push(args.to_string());
        Ok(Output::text("ran"))
    }
}

/// Tools of the three tiers under the names that rules speak of.
fn registry(ran: &Ran) -> Registry {
    Registry::builder()
        .add_dynamic(spec("Read", Tier::Read), noting(ran))
        .add_dynamic(spec("Write", Tier::Write), noting(ran))
        .add_dynamic(spec("apply_patch", Tier::Write), noting(ran))
        .add_dynamic(spec("Bash", Tier::Exec), noting(ran))
        .add_dynamic(spec("cell", Tier::Exec), |call, args| {
            let name = args["tool"].as_str().unwrap_or_default().to_owned();
            call.dispatch(&name, args["args"].clone())
        })
        .build()
        .expect("distinct names")
}

fn kind(res: &Result<Output, ToolError>) -> Option<ErrorKind> {
    res.as_ref().err().map(ToolError::kind)
}

/// Answers every request the same way, and notes it.
struct Fixed {
    approval: Approval,
    asked: Ran,
}

impl Fixed {
    fn new(approval: Approval) -> (Arc<Self>, Ran) {
        let asked = Ran::default();
        let fixed = Self {
            approval,
            asked: Arc::clone(&asked),
        };
        (Arc::new(fixed), asked)
    }
}

impl Approver for Fixed {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let mut chain: Vec<&str> = request.outer.names().collect();
        chain.push(&request.spec.name);
        let line = format!("{} {}", chain.join(">"), request.args);
        self.asked.lock().expect("free").push(line);
        self.approval.clone()
    }
}
