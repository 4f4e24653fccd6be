//! The approver of one call, and tools that a host brings.

use super::*;

// D42: a cell brings its own approval, and whatever it reaches is decided by it, however deep.
#[test]
fn the_approver_of_a_call_is_inherited_by_what_it_bridges_to() {
    let ran = Ran::default();
    let run = Run::builder(registry(&ran)).build();
    let typed = || CallOptions::new().approved_by_caller();
    let write = json!({"tool": "Write", "args": {"n": 1}});
    let deep = json!({"tool": "cell", "args": write});
    let denied = run.dispatch("cell", write.clone(), typed());
    assert_eq!(kind(&denied), Some(ErrorKind::Denied), "policy alone");
    assert!(ran.lock().expect("free").is_empty());

    let up_to = |tier| typed().with_approver(Arc::new(AutoApprove::up_to(tier)));
    assert!(
        run.dispatch("cell", write.clone(), up_to(Tier::Write))
            .is_ok()
    );
    let too_deep = run.dispatch("cell", deep.clone(), up_to(Tier::Write));
    assert_eq!(kind(&too_deep), Some(ErrorKind::Denied), "cell is exec");
    assert!(run.dispatch("cell", deep, up_to(Tier::Exec)).is_ok());
    assert_eq!(*ran.lock().expect("free"), [r#"{"n":1}"#, r#"{"n":1}"#]);
    // The next call has the run's own again.
    let after = run.dispatch("cell", write, typed());
    assert_eq!(kind(&after), Some(ErrorKind::Denied));
}

// D42: the approver of a call decides about the call itself too, unless the caller approved it.
#[test]
fn the_approver_of_a_call_takes_the_place_of_the_runs() {
    let ran = Ran::default();
    let (never, asked_of_run) = Fixed::new(Approval::Denied("no".to_owned()));
    let (always, asked_of_call) = Fixed::new(Approval::Granted);
    let run = Run::builder(registry(&ran)).approver(never).build();
    let options = CallOptions::new().with_approver(always);
    let args = json!({"tool": "Write", "args": {}});
    assert!(run.dispatch("cell", args, options).is_ok());
    assert_eq!(
        *asked_of_call.lock().expect("free"),
        [r#"cell {"args":{},"tool":"Write"}"#, "cell>Write {}"]
    );
    assert!(asked_of_run.lock().expect("free").is_empty());
}

// R109, D37: what a host registers passes the same gate, and a limited surface does not get it.
#[test]
fn a_tool_of_the_host_passes_the_same_gate() {
    let ran = Ran::default();
    let run = Run::builder(registry(&ran))
        .tool(spec("deploy", Tier::Exec), noting(&ran))
        .expect("a new name")
        .tool(spec("weather", Tier::Read), noting(&ran))
        .expect("a new name")
        .build();
    assert!(
        run.dispatch("weather", json!({}), CallOptions::new())
            .is_ok()
    );
    let denied = run.dispatch("deploy", json!({}), CallOptions::new());
    assert_eq!(kind(&denied), Some(ErrorKind::Denied));
    let bridged = json!({"tool": "weather", "args": {}});
    let typed = CallOptions::new().approved_by_caller();
    assert!(run.dispatch("cell", bridged, typed).is_ok());
    let twice = Run::builder(registry(&ran)).tool(spec("Bash", Tier::Read), noting(&ran));
    assert_eq!(
        twice.err().map(|err| err.to_string()).as_deref(),
        Some("tool 'Bash' is registered twice")
    );
    // R8: absent, not refused.
    let run = Run::builder(registry(&ran).limit(Tier::Read))
        .tool(spec("deploy", Tier::Exec), noting(&ran))
        .expect("filtered, no error")
        .build();
    let names: Vec<String> = run.specs().into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["Read"]);
    let gone = run.dispatch("deploy", json!({}), CallOptions::new());
    assert_eq!(kind(&gone), Some(ErrorKind::UnknownTool));
}

// D37: the approver sees the arguments that run, and nothing between the two changes them.
#[test]
fn what_was_approved_is_what_runs() {
    let ran = Ran::default();
    let (always, asked) = Fixed::new(Approval::Granted);
    let run = Run::builder(registry(&ran)).approver(always).build();
    let args = json!({"command": "cargo test", "b": [1, null, {"c": "\u{202e}"}]});
    run.dispatch("Bash", args.clone(), CallOptions::new())
        .expect("granted");
    assert_eq!(*ran.lock().expect("free"), [args.to_string()]);
    assert_eq!(*asked.lock().expect("free"), [format!("Bash {args}")]);
}
