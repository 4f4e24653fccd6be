//! The contract: what registers, what a surface sees, and the gate that every call passes.
//!
//! Threads meet at channels with a deadline; nothing here waits a while and hopes.

mod calls;
mod gate;
mod registry;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::files::WriteObserver;
use toolbox::registry::{Registry, RegistryError};
use toolbox::run::{
    AfterWrite, Approval, ApprovalRequest, Approver, AutoApprove, CallOptions, CallState, Run,
    RunHandle,
};
use toolbox::tool::{Call, ErrorKind, Image, Output, Tier, Tool, ToolError, ToolSpec};

const PATIENCE: Duration = Duration::from_secs(20);

/// Says something back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EchoArgs {
    /// What to say.
    text: String,
    /// How often.
    #[serde(default = "once")]
    times: u32,
    /// How loud.
    volume: Option<Volume>,
}

fn once() -> u32 {
    1
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Volume {
    Quiet,
    Loud,
}

/// A reading tool over a resource.
struct Echo(Arc<str>);

impl Tool for Echo {
    const NAME: &'static str = "echo";
    const TIER: Tier = Tier::Read;
    type Args = EchoArgs;

    fn description(&self) -> String {
        "Says something back.".to_owned()
    }

    fn run(&self, _call: &Call<'_>, args: EchoArgs) -> Result<Output, ToolError> {
        let times = usize::try_from(args.times)
            .map_err(|err| ToolError::from_cause(ErrorKind::Failed, err))?;
        let text = match args.volume {
            Some(Volume::Loud) => args.text.to_uppercase(),
            Some(Volume::Quiet) | None => args.text,
        };
        Ok(Output::text(format!("{}{}", self.0, text.repeat(times))))
    }
}

fn echo() -> Echo {
    Echo(Arc::from(""))
}

fn spec(name: &str, tier: Tier) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        tier,
        parallel_safe: true,
        description: format!("The tool {name}."),
        schema: json!({"type": "object"}),
    }
}

fn sequential(name: &str) -> ToolSpec {
    ToolSpec {
        parallel_safe: false,
        ..spec(name, Tier::Read)
    }
}

fn nothing(_call: &Call<'_>, _args: Value) -> Result<Output, ToolError> {
    Ok(Output::text("done"))
}

fn names(registry: &Registry) -> Vec<&str> {
    registry
        .specs()
        .into_iter()
        .map(|spec| spec.name.as_str())
        .collect()
}

fn run_of(registry: Registry) -> Run {
    Run::builder(registry)
        .approver(AutoApprove::up_to(Tier::Exec))
        .build()
}

fn call(run: &Run, name: &str, args: Value) -> Result<Output, ToolError> {
    run.dispatch(name, args, CallOptions::new())
}

#[track_caller]
fn check_error(res: Result<Output, ToolError>, expected: Expect) {
    let error = res.expect_err("an error");
    let hint = error
        .hint()
        .map(|hint| format!("\nhint: {hint}"))
        .unwrap_or_default();
    expected.assert_eq(&format!("{}: {}{hint}", error.kind(), error.message()));
}

fn tiers() -> Registry {
    Registry::builder()
        .add_dynamic(spec("reader", Tier::Read), nothing)
        .add_dynamic(spec("writer", Tier::Write), nothing)
        .add_dynamic(spec("starter", Tier::Exec), nothing)
        .build()
        .expect("three names")
}

// R6
#[test]
fn every_tool_declares_one_of_three_ordered_tiers() {
    assert!(Tier::Read < Tier::Write && Tier::Write < Tier::Exec);
    for tier in Tier::ALL {
        assert_eq!(tier.as_str().parse(), Ok(tier));
        assert_eq!(
            serde_json::to_value(tier).expect("a name"),
            json!(tier.as_str())
        );
    }
    let error = "admin".parse::<Tier>().expect_err("no tier");
    assert_eq!(
        error.to_string(),
        "unknown tier 'admin': one of read, write, exec"
    );
}

// The kinds are the closed set of the interface.
#[test]
fn error_kinds_have_the_promised_names() {
    let names = ErrorKind::ALL.map(|kind| serde_json::to_value(kind).expect("a name"));
    assert_eq!(
        json!(names),
        json!([
            "invalid_args",
            "not_found",
            "unknown_tool",
            "unavailable",
            "unparseable",
            "stale",
            "denied",
            "busy",
            "timeout",
            "expired",
            "cancelled",
            "failed",
            "internal"
        ])
    );
    for kind in ErrorKind::ALL {
        assert_eq!(
            serde_json::to_value(kind).expect("a name"),
            json!(kind.as_str())
        );
    }
}

fn counter(name: &str, tier: Tier, count: &Arc<AtomicUsize>) -> Registry {
    let count = Arc::clone(count);
    let run = move |_call: &Call<'_>, _args: Value| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(Output::text("ran"))
    };
    Registry::builder()
        .add_dynamic(spec(name, tier), run)
        .build()
        .expect("one tool")
}

#[test]
fn a_report_gives_text_and_json_that_agree() {
    #[derive(Serialize)]
    struct Report {
        shown: usize,
    }
    impl std::fmt::Display for Report {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{} shown", self.shown)
        }
    }
    let image = Image {
        mime: "image/png".to_owned(),
        bytes: vec![1],
    };
    let output = Output::report(&Report { shown: 2 })
        .expect("json")
        .with_images(vec![image]);
    assert_eq!(
        (output.text.as_str(), output.data),
        ("2 shown", json!({"shown": 2}))
    );
    assert_eq!(output.images.len(), 1);
}

#[test]
fn an_error_tells_its_cause_once_and_as_json() {
    let cause = std::io::Error::other("disk full");
    let error = ToolError::new(ErrorKind::Failed, "cannot write a.rs")
        .caused_by(cause)
        .with_hint("free some");
    assert_eq!(
        serde_json::to_value(&error).expect("json"),
        json!({"kind": "failed", "message": "cannot write a.rs: disk full", "hint": "free some"})
    );
    assert!(std::error::Error::source(&error).is_some());
    let plain = serde_json::to_value(ToolError::cancelled()).expect("json");
    assert_eq!(
        plain,
        json!({"kind": "cancelled", "message": "the call was cancelled", "hint": null})
    );
}

// A tool can be tested without a run.
#[test]
fn a_detached_call_reaches_no_other_tool() {
    let cancel = Cancel::new();
    let call = Call::detached(&cancel);
    assert_eq!(
        call.dispatch("echo", json!({})).expect_err("alone").kind(),
        ErrorKind::UnknownTool
    );
    assert!(call.check_cancelled().is_ok());
    cancel.cancel();
    assert_eq!(
        call.check_cancelled().expect_err("cancelled").kind(),
        ErrorKind::Cancelled
    );
}
