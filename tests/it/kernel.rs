//! `eval`: cells in real interpreters, through the gate of a run.

mod bridge;
mod cases;
mod diagnostics;
mod faults;
mod javascript;
mod python;

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::child::{Env, Processes, Watch};
use toolbox::kernel::KernelOptions;
use toolbox::registry::Registry;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{Call, ErrorKind, Output, Tier, ToolError, ToolSpec};
use toolbox::tools::{EvalResources, Resources, connect};

use crate::support::peers;

/// A run with `eval` and a few tools for cells to call, in a folder of its own.
pub(crate) struct Lab {
    pub(crate) run: Run,
    pub(crate) processes: Processes,
    folder: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::with_budget(Duration::from_secs(120))
    }

    pub(crate) fn with_budget(budget: Duration) -> Self {
        Self::with(|options| options.budget = Some(budget))
    }

    pub(crate) fn with(change: impl FnOnce(&mut KernelOptions)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("work");
        std::fs::create_dir(&root).expect("a folder");
        let env = Env::new()
            .with("PATH", peers::path())
            .with("HOME", folder.path())
            .with("LANG", "C.UTF-8");
        let mut options = KernelOptions::new(root, env);
        options.spill = Some(folder.path().join("spill"));
        change(&mut options);
        let processes = Processes::new(Watch::Shell);
        let mut registry = connect(&Resources {
            eval: Some(EvalResources::new(processes.clone(), options)),
            ..Resources::default()
        });
        add_tools(&mut registry);
        let run = Run::builder(registry)
            .approver(AutoApprove::up_to(Tier::Exec))
            .build();
        Self {
            run,
            processes,
            folder,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root().join(name), text).expect("a file");
    }

    /// Runs a cell of Python.
    #[track_caller]
    pub(crate) fn python(&self, code: &str) -> Output {
        self.cell(json!({"code": code, "description": "a test"}))
    }

    /// Runs a cell of JavaScript.
    #[track_caller]
    pub(crate) fn javascript(&self, code: &str) -> Output {
        self.cell(json!({"code": code, "description": "a test", "language": "javascript"}))
    }

    #[track_caller]
    pub(crate) fn cell(&self, args: Value) -> Output {
        self.run
            .dispatch("eval", args, CallOptions::new())
            .expect("a report")
    }
}

/// Cancels after a while; dropping it takes that back.
pub(crate) fn cancel_after(cancel: &Cancel, after: Duration) -> impl Drop + use<> {
    struct Timer(
        Option<std::sync::mpsc::Sender<()>>,
        Option<std::thread::JoinHandle<()>>,
    );
    impl Drop for Timer {
        fn drop(&mut self) {
            self.0 = None;
            if let Some(thread) = self.1.take() {
                thread.join().expect("it does not panic");
            }
        }
    }
    let (sender, receiver) = channel();
    let cancel = cancel.clone();
    let thread = std::thread::spawn(move || {
        if receiver.recv_timeout(after) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            cancel.cancel();
        }
    });
    Timer(Some(sender), Some(thread))
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

/// Waits for a cancel; tells whether it came.
fn wait(call: &Call<'_>, time: Duration) -> bool {
    let (sender, receiver) = channel();
    let sender = std::sync::Mutex::new(sender);
    let _guard = call.cancel().on_cancel(move || {
        let _ = sender.lock().expect("not poisoned").send(());
    });
    receiver.recv_timeout(time).is_ok()
}

fn add_tools(registry: &mut Registry) {
    let echo = |_: &Call<'_>, args: Value| {
        Ok(Output {
            data: args,
            ..Output::default()
        })
    };
    let sleep = |call: &Call<'_>, args: Value| {
        let seconds = args["s"].as_f64().unwrap_or_default();
        if wait(call, Duration::from_secs_f64(seconds)) {
            return Err(ToolError::cancelled());
        }
        Ok(Output {
            data: args["s"].clone(),
            ..Output::default()
        })
    };
    let fail = |_: &Call<'_>, _: Value| {
        Err(ToolError::new(ErrorKind::NotFound, "no such thing").with_hint("look elsewhere"))
    };
    for res in [
        registry.insert_dynamic(spec("echo", Tier::Read), echo),
        registry.insert_dynamic(spec("sleep", Tier::Read), sleep),
        registry.insert_dynamic(spec("fail", Tier::Read), fail),
    ] {
        res.expect("a fresh name");
    }
}
