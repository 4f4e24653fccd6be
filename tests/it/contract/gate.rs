//! Approvals, the bridge, panics and the observers of writes.

use super::*;

/// Counts what it is asked, and keeps the chain of each question.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<Vec<String>>>);

impl Approver for Counting {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let mut chain: Vec<&str> = request.outer.names().collect();
        chain.push(&request.spec.name);
        self.0.lock().expect("no panic holds it").push(format!(
            "{} {}",
            chain.join(">"),
            request.args
        ));
        Approval::Granted
    }
}

// D37
#[test]
fn a_call_above_the_approved_tier_is_denied_and_nothing_runs() {
    for (approved, tier, runs) in [
        (Tier::Read, Tier::Read, true),
        (Tier::Read, Tier::Write, false),
        (Tier::Write, Tier::Write, true),
        (Tier::Write, Tier::Exec, false),
        (Tier::Exec, Tier::Exec, true),
    ] {
        let count = Arc::default();
        let run = Run::builder(counter("tool", tier, &count))
            .approver(AutoApprove::up_to(approved))
            .build();
        let res = call(&run, "tool", json!({}));
        assert_eq!(
            count.load(Ordering::SeqCst),
            usize::from(runs),
            "{approved} {tier}"
        );
        assert_eq!(res.is_ok(), runs);
        if let Err(error) = res {
            assert_eq!(error.kind(), ErrorKind::Denied);
        }
    }
    // Without an approver of its own a run approves reading only.
    let run = Run::builder(tiers()).build();
    assert!(call(&run, "reader", json!({})).is_ok());
    check_error(
        call(&run, "writer", json!({})),
        expect![[r#"
            denied: writer was not approved: its tier is write, calls up to read are approved here, and nobody is there to ask
            hint: nothing ran"#]],
    );
}

// D37: no answer is a refusal, also when the approver breaks.
#[test]
fn an_approver_that_panics_denies() {
    struct Broken;
    impl Approver for Broken {
        fn approve(&self, _request: &ApprovalRequest<'_>) -> Approval {
            panic!("the card was lost")
        }
    }
    let count = Arc::default();
    let run = Run::builder(counter("tool", Tier::Read, &count))
        .approver(Broken)
        .build();
    assert_eq!(
        call(&run, "tool", json!({})).expect_err("denied").kind(),
        ErrorKind::Denied
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn nobody_is_asked_about_arguments_that_do_not_fit() {
    let asked = Counting::default();
    let registry = Registry::builder().add(echo()).build().expect("one tool");
    let run = Run::builder(registry).approver(asked.clone()).build();
    assert!(call(&run, "echo", json!({"txt": 1})).is_err());
    assert!(asked.0.lock().expect("free").is_empty());
    assert!(call(&run, "echo", json!({"text": "a"})).is_ok());
    assert_eq!(*asked.0.lock().expect("free"), [r#"echo {"text":"a"}"#]);
}

/// `outer` passes its arguments on as a call; `inner` and `writer` are there to be called.
fn bridged() -> Registry {
    let outer = |call: &Call<'_>, args: Value| {
        let name = args["tool"].as_str().unwrap_or_default().to_owned();
        call.dispatch(&name, args["args"].clone())
    };
    Registry::builder()
        .add_dynamic(sequential("outer"), outer)
        .add_dynamic(spec("deeper", Tier::Read), outer)
        .add_dynamic(spec("writer", Tier::Write), nothing)
        .add(echo())
        .build()
        .expect("four tools")
}

// R109: the bridge passes the same gate.
#[test]
fn a_bridged_call_passes_the_same_gate() {
    let run = Run::builder(bridged()).build();
    let output = call(
        &run,
        "outer",
        json!({"tool": "echo", "args": {"text": "hi"}}),
    );
    assert_eq!(output.expect("bridged").text, "hi");
    let denied = call(&run, "outer", json!({"tool": "writer", "args": {}}));
    assert_eq!(denied.expect_err("denied").kind(), ErrorKind::Denied);
    let unknown = call(&run, "outer", json!({"tool": "nothing", "args": {}}));
    assert_eq!(unknown.expect_err("unknown").kind(), ErrorKind::UnknownTool);

    let asked = Counting::default();
    let run = Run::builder(bridged()).approver(asked.clone()).build();
    call(
        &run,
        "outer",
        json!({"tool": "echo", "args": {"text": "hi"}}),
    )
    .expect("bridged");
    assert_eq!(
        asked.0.lock().expect("free")[1],
        r#"outer>echo {"text":"hi"}"#
    );
}

// D42: what somebody typed is its own approval; what it bridges to is not.
#[test]
fn an_approval_by_the_caller_covers_the_call_alone() {
    let registry = Registry::builder()
        .add_dynamic(spec("cell", Tier::Exec), |call, args| {
            call.dispatch("writer", args)
        })
        .add_dynamic(spec("writer", Tier::Write), nothing)
        .add_dynamic(spec("alone", Tier::Exec), nothing)
        .build()
        .expect("three tools");
    let run = Run::builder(registry).build();
    let typed = || CallOptions::new().approved_by_caller();
    assert!(run.dispatch("alone", json!({}), typed()).is_ok());
    assert_eq!(
        run.dispatch("cell", json!({}), typed())
            .expect_err("bridged")
            .to_string(),
        call(&run, "writer", json!({}))
            .expect_err("policy")
            .to_string()
    );
}

// D43, D24: queues are for overlapping calls; nesting in itself would wait for ever.
#[test]
fn a_call_nested_in_itself_is_busy_also_through_another_tool() {
    let run = run_of(bridged());
    let direct = json!({"tool": "outer", "args": {"tool": "echo", "args": {"text": "x"}}});
    check_error(
        call(&run, "outer", direct.clone()),
        expect![[r#"
            busy: outer is busy: this call is nested in another call of outer
            hint: do it without outer, or after the outer call has ended"#]],
    );
    let through = json!({"tool": "deeper", "args": direct});
    assert_eq!(
        call(&run, "outer", through).expect_err("nested").kind(),
        ErrorKind::Busy
    );
    // A parallel-safe tool may nest, and the sequential one is free again.
    let nested = json!({"tool": "deeper", "args": {"tool": "deeper", "args": {"tool": "echo", "args": {"text": "x"}}}});
    assert_eq!(call(&run, "outer", nested).expect("nested").text, "x");
}

#[test]
fn endless_nesting_ends_in_an_error() {
    let registry = Registry::builder()
        .add_dynamic(spec("mirror", Tier::Read), |call, args| {
            call.dispatch("mirror", args)
        })
        .build()
        .expect("one tool");
    assert_eq!(
        call(&run_of(registry), "mirror", json!({}))
            .expect_err("endless")
            .kind(),
        ErrorKind::Busy
    );
}

#[test]
fn a_panic_is_an_internal_error_and_frees_the_turn() {
    let registry = Registry::builder()
        .add_dynamic(sequential("fragile"), |_call, args| {
            match args["n"].as_u64() {
                Some(n) => panic!("broke at {n}"),
                None => Ok(Output::text("whole")),
            }
        })
        .build()
        .expect("one tool");
    let run = run_of(registry);
    check_error(
        call(&run, "fragile", json!({"n": 7})),
        expect!["internal: fragile failed from a defect of its own: broke at 7"],
    );
    assert_eq!(
        call(&run, "fragile", json!({})).expect("a call").text,
        "whole"
    );
}

/// Writes down what it is told, and appends to results.
#[derive(Default)]
struct Witness {
    told: Mutex<Vec<String>>,
    fails: bool,
}

impl Witness {
    fn tell(&self, what: &str, paths: &[PathBuf]) {
        self.told
            .lock()
            .expect("free")
            .push(format!("{what} {paths:?}"));
        assert!(!self.fails, "the observer broke");
    }
}

impl WriteObserver for Witness {
    fn before(&self, paths: &[PathBuf]) {
        self.tell("before", paths);
    }
    fn after(&self, paths: &[PathBuf]) {
        self.tell("after", paths);
    }
}

impl AfterWrite for Witness {
    fn append(&self, written: &[PathBuf], _cancel: &Cancel, output: &mut Output) {
        output.append(
            "noted",
            &format!("{} written", written.len()),
            json!(written.len()),
        );
        assert!(!self.fails, "the observer broke");
    }
}

fn writer() -> Registry {
    let write = |call: &Call<'_>, args: Value| {
        let paths: Vec<PathBuf> = args["paths"]
            .as_array()
            .map(|paths| {
                paths
                    .iter()
                    .filter_map(Value::as_str)
                    .map(PathBuf::from)
                    .collect()
            })
            .unwrap_or_default();
        if !paths.is_empty() {
            call.observer().before(&paths);
            call.observer().after(&paths);
        }
        Ok(Output {
            text: "wrote".to_owned(),
            data: json!({}),
            images: Vec::new(),
        })
    };
    let bridge = |call: &Call<'_>, args: Value| call.dispatch("write", args);
    Registry::builder()
        .add_dynamic(spec("write", Tier::Write), write)
        .add_dynamic(spec("bridge", Tier::Read), bridge)
        .build()
        .expect("two tools")
}

// R30, R109: every writer is observed, also through the bridge; D6: late ones come with the next result.
#[test]
fn observers_see_every_write_and_append_to_its_own_result() {
    let (first, hook) = (Arc::new(Witness::default()), Arc::new(Witness::default()));
    let run = Run::builder(writer())
        .approver(AutoApprove::up_to(Tier::Exec))
        .observer(first.clone())
        .after_write(hook.clone())
        .build();
    let output = call(&run, "write", json!({"paths": ["b", "a"]})).expect("a write");
    assert_eq!(
        (output.text.as_str(), output.data),
        ("wrote\n2 written", json!({"noted": 2}))
    );
    for witness in [&first, &hook] {
        let told = std::mem::take(&mut *witness.told.lock().expect("free"));
        assert_eq!(told, [r#"before ["b", "a"]"#, r#"after ["b", "a"]"#]);
    }
    let output = call(&run, "bridge", json!({"paths": ["a"]})).expect("a bridged write");
    assert_eq!(
        output.text, "wrote\n1 written\n0 written",
        "the write is noted once, where it happened"
    );
    assert_eq!(
        call(&run, "write", json!({})).expect("no write").text,
        "wrote\n0 written"
    );
}

// D6: a failing observer never loses a write.
#[test]
fn an_observer_that_panics_loses_no_result() {
    let broken = Arc::new(Witness {
        fails: true,
        ..Witness::default()
    });
    let run = Run::builder(writer())
        .approver(AutoApprove::up_to(Tier::Exec))
        .after_write(broken.clone())
        .build();
    let output = call(&run, "write", json!({"paths": ["a"]})).expect("a write");
    assert_eq!((output.text.as_str(), output.data), ("wrote", json!({})));
    assert_eq!(broken.told.lock().expect("free").len(), 2);
}

// A handle may outlive the run; who watches its writes must not, since that may hold processes.
#[test]
fn watchers_go_with_their_run() {
    let hook = Arc::new(Witness::default());
    let observer = Arc::new(Witness::default());
    let run = Run::builder(writer())
        .observer(observer.clone())
        .after_write(hook.clone())
        .build();
    let handle = run.handle();
    assert!(Arc::strong_count(&hook) > 1 && Arc::strong_count(&observer) > 1);
    drop(run);
    assert_eq!(
        (Arc::strong_count(&hook), Arc::strong_count(&observer)),
        (1, 1)
    );
    let refused = handle.dispatch("write", json!({}), CallOptions::new());
    assert!(refused.is_err(), "the run has ended");
}

// R129: tools join and leave while the run goes on.
#[test]
fn tools_join_and_leave_a_running_run() {
    let run = run_of(Registry::default());
    assert!(call(&run, "late", json!({})).is_err());
    run.update_registry(|registry| registry.insert_dynamic(spec("late", Tier::Read), nothing))
        .expect("new");
    assert!(call(&run, "late", json!({})).is_ok());
    assert_eq!(run.specs().len(), 1);
    assert!(run.update_registry(|registry| registry.remove("late", "vibe mode is off")));
    assert_eq!((run.specs().len(), run.unavailable().len()), (0, 1));
    check_error(
        call(&run, "late", json!({})),
        expect!["unknown_tool: tool 'late' is not registered in this run: vibe mode is off"],
    );
}
