//! The rules of a policy: deny over ask over allow, and nothing allowed that is not certain.

use super::*;

/// What a policy does about a call, where somebody who grants everything is asked.
#[track_caller]
fn check(policy: &Policy, tool: &str, args: Value, expected: Decision) {
    let ran = Ran::default();
    let (always, asked) = Fixed::new(Approval::Granted);
    let run = Run::builder(registry(&ran))
        .approver(policy.clone().asking(always))
        .build();
    let res = run.dispatch(tool, args.clone(), CallOptions::new());
    let n_asked = asked.lock().expect("free").len();
    let got = match (&res, n_asked) {
        (Ok(_), 0) => Decision::Allow,
        (Ok(_), _) => Decision::Ask,
        (Err(error), _) => {
            assert_eq!(error.kind(), ErrorKind::Denied);
            Decision::Deny
        }
    };
    assert_eq!(got, expected, "{tool} {args}");
    assert_eq!(ran.lock().expect("free").len(), usize::from(res.is_ok()));
}

fn command(words: &str, decision: Decision) -> Rule {
    let target = Target::new("/command", SubjectKind::Command);
    Rule::command("Bash", target, words, decision).expect("plain words")
}

fn path(pattern: &str, decision: Decision) -> Rule {
    let target = Target::new("/file_path", SubjectKind::Path);
    Rule::path("Write", target, pattern, decision).expect("a glob")
}

fn patch(pattern: &str, decision: Decision) -> Rule {
    let target = Target::new("/patch", SubjectKind::Patch);
    Rule::path("apply_patch", target, pattern, decision).expect("a glob")
}

fn bash(line: &str) -> Value {
    json!({"command": line})
}

// D37
#[test]
fn the_tier_decides_where_no_rule_does() {
    for (auto, read, write, exec) in [
        (Tier::Read, Decision::Allow, Decision::Ask, Decision::Ask),
        (Tier::Write, Decision::Allow, Decision::Allow, Decision::Ask),
        (
            Tier::Exec,
            Decision::Allow,
            Decision::Allow,
            Decision::Allow,
        ),
    ] {
        let policy = Policy::new(auto);
        check(&policy, "Read", json!({}), read);
        check(&policy, "Write", json!({}), write);
        check(&policy, "Bash", bash("ls"), exec);
    }
}

// D37: no approver connected, the call is refused.
#[test]
fn without_somebody_to_ask_what_needs_asking_is_refused() {
    let ran = Ran::default();
    let run = Run::builder(registry(&ran))
        .approver(Policy::new(Tier::Read).tool("Read", Decision::Ask))
        .build();
    for (tool, words) in [
        (
            "Write",
            "its tier is write, calls up to read are approved here, and nobody is there to ask",
        ),
        (
            "Read",
            "the policy asks about Read, and nobody is there to ask",
        ),
    ] {
        let error = run
            .dispatch(tool, json!({}), CallOptions::new())
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert_eq!(error.message(), format!("{tool} was not approved: {words}"));
    }
    assert!(ran.lock().expect("free").is_empty());
}

// D37
#[test]
fn a_decision_about_a_tool_goes_before_its_tier() {
    let policy = Policy::new(Tier::Write)
        .tool("Read", Decision::Ask)
        .tool("Write", Decision::Deny)
        .tool("Bash", Decision::Allow);
    check(&policy, "Read", json!({}), Decision::Ask);
    check(&policy, "Write", json!({}), Decision::Deny);
    check(&policy, "Bash", bash("anything; at all"), Decision::Allow);
    check(&policy, "apply_patch", json!({}), Decision::Allow);
}

// D37
#[test]
fn deny_wins_over_ask_and_ask_over_allow() {
    let policy = Policy::new(Tier::Read)
        .tool("Bash", Decision::Ask)
        .rule(command("git", Decision::Allow))
        .rule(command("git push", Decision::Ask))
        .rule(command("git push --force", Decision::Deny));
    check(&policy, "Bash", bash("git status"), Decision::Allow);
    check(&policy, "Bash", bash("git push origin"), Decision::Ask);
    check(&policy, "Bash", bash("git push --force"), Decision::Deny);
    check(&policy, "Bash", bash("gitk"), Decision::Ask);
    // A denied tool is denied, whatever a rule allows.
    let denied = policy.tool("Bash", Decision::Deny);
    check(&denied, "Bash", bash("git status"), Decision::Deny);
}

// D37: fail closed on whatever a shell would split, expand or redirect.
#[test]
fn a_rule_allows_one_plain_command_only() {
    let policy = Policy::new(Tier::Read).rule(command("cargo test", Decision::Allow));
    for line in ["cargo test", "cargo  test --lib", "cargo test 'a; b'"] {
        check(&policy, "Bash", bash(line), Decision::Allow);
    }
    for line in [
        "cargo",
        "cargo testx",
        "cargo build",
        "cargo test; rm x",
        "cargo test && rm x",
        "cargo test | sh",
        "cargo test `rm x`",
        "cargo test $(rm x)",
        "cargo test\nrm x",
        "cargo test > x",
        "cargo test \"$(rm x)\"",
        "cargo test & rm x",
        "X=1 cargo test",
        "",
    ] {
        check(&policy, "Bash", bash(line), Decision::Ask);
    }
    check(&policy, "Bash", json!({}), Decision::Ask);
    check(&policy, "Bash", json!({"command": 1}), Decision::Ask);
}

// D37: a forbidden command is not hidden by a separator, and what cannot be read is asked about.
#[test]
fn a_rule_that_denies_sees_into_compound_lines() {
    let policy = Policy::new(Tier::Exec).rule(command("rm -rf", Decision::Deny));
    for line in [
        "rm -rf x",
        "true; rm -rf x",
        "echo $(rm -rf x)",
        "'rm' -rf x",
    ] {
        check(&policy, "Bash", bash(line), Decision::Deny);
    }
    check(&policy, "Bash", bash("ls"), Decision::Allow);
    check(&policy, "Bash", bash("$X -rf x"), Decision::Ask);
    check(&policy, "Bash", bash("ls | wc"), Decision::Ask);
    check(&policy, "Bash", json!({}), Decision::Ask);
    // The rule is about its own tool alone.
    check(&policy, "Write", bash("rm -rf x"), Decision::Allow);
}

#[test]
fn a_rule_takes_plain_words_and_good_globs() {
    let target = || Target::new("/command", SubjectKind::Command);
    for bad in ["", "a; b", "a > b", "a $X", "*"] {
        assert!(
            Rule::command("Bash", target(), bad, Decision::Allow).is_err(),
            "{bad}"
        );
    }
    let error = Rule::path("Write", target(), "a[", Decision::Allow).expect_err("no glob");
    assert!(
        error
            .to_string()
            .starts_with("the path pattern 'a[' is no glob: "),
        "{error}"
    );
    assert!("sometimes".parse::<Decision>().is_err());
    for decision in Decision::ALL {
        assert_eq!(decision.as_str().parse(), Ok(decision));
    }
}

/// A workspace with `docs`, `src`, and links between them.
fn workspace() -> (tempfile::TempDir, Workspace) {
    let temp = tempfile::tempdir().expect("a folder");
    let root = temp.path().join("w");
    for folder in ["docs/deep", "src"] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    std::os::unix::fs::symlink("../src", root.join("docs/link")).expect("a link");
    std::os::unix::fs::symlink("../docs", root.join("src/back")).expect("a link");
    let workspace = Workspace::open(&root).expect("a folder");
    (temp, workspace)
}

// D37, D36: a path is matched where it leads.
#[test]
fn a_path_rule_looks_at_where_a_path_leads() {
    let (_temp, workspace) = workspace();
    let root = workspace.root().display().to_string();
    let policy = Policy::new(Tier::Read)
        .workspace(workspace)
        .rule(path("docs/**", Decision::Allow))
        .rule(path("docs/secret.md", Decision::Deny))
        .rule(path("*.lock", Decision::Ask));
    let write = |path: &str| json!({"file_path": path});
    for inside in [
        "docs/a.md",
        "./docs/deep/../b.md",
        &format!("{root}/docs/new/c.md"),
    ] {
        check(&policy, "Write", write(inside), Decision::Allow);
    }
    for outside in [
        "src/a.rs",
        "docs",
        "docs/../src/a.rs",
        "docs/link/a.rs",
        "../x",
        "/etc/passwd",
        "",
        "src/back/a.md",
        "a.lock",
    ] {
        check(&policy, "Write", write(outside), Decision::Ask);
    }
    for secret in [
        "docs/secret.md",
        "src/back/secret.md",
        "docs/deep/../secret.md",
    ] {
        check(&policy, "Write", write(secret), Decision::Deny);
    }
    check(
        &policy,
        "Write",
        json!({"file_path": ["docs/a.md"]}),
        Decision::Allow,
    );
    check(
        &policy,
        "Write",
        json!({"file_path": ["docs/a.md", "b"]}),
        Decision::Ask,
    );
    check(
        &policy,
        "Write",
        json!({"file_path": ["docs/a.md", 1]}),
        Decision::Ask,
    );
    check(&policy, "Write", json!({"file_path": []}), Decision::Ask);
    check(&policy, "Write", json!({}), Decision::Ask);
}

// An argument that goes by two names is seen under both.
#[test]
fn every_name_of_an_argument_is_looked_at() {
    let (_temp, workspace) = workspace();
    let target = || Target {
        pointers: vec!["/path".to_owned(), "/file_path".to_owned()],
        kind: SubjectKind::Path,
    };
    let rule =
        |pattern, decision| Rule::path("Write", target(), pattern, decision).expect("a glob");
    let policy = Policy::new(Tier::Read)
        .workspace(workspace)
        .rule(rule("docs/**", Decision::Allow))
        .rule(rule("src/**", Decision::Deny));
    for name in ["path", "file_path"] {
        check(&policy, "Write", json!({name: "docs/a"}), Decision::Allow);
        check(&policy, "Write", json!({name: "src/a"}), Decision::Deny);
    }
    let both = json!({"path": "docs/a", "file_path": "b"});
    check(&policy, "Write", both, Decision::Ask);
}

#[test]
fn a_path_rule_without_a_workspace_allows_nothing() {
    let policy = Policy::new(Tier::Read).rule(path("**", Decision::Allow));
    check(&policy, "Write", json!({"file_path": "a"}), Decision::Ask);
}

// D37: a patch is allowed when each of its paths is, and denied when one is.
#[test]
fn every_path_of_a_patch_counts() {
    let (_temp, workspace) = workspace();
    let policy = Policy::new(Tier::Read)
        .workspace(workspace)
        .rule(patch("docs/**", Decision::Allow))
        .rule(patch("src/*.rs", Decision::Allow))
        .rule(patch("**/secret", Decision::Deny));
    let args = |headers: &[&str]| {
        let body: String = headers.iter().map(|line| format!("*** {line}\n")).collect();
        json!({"patch": format!("*** Begin Patch\n{body}*** End Patch")})
    };
    for allowed in [
        &["Add File: docs/a"][..],
        &[
            "Update File: docs/a",
            "Move to: src/b.rs",
            "Delete File: src/c.rs",
        ],
    ] {
        check(&policy, "apply_patch", args(allowed), Decision::Allow);
    }
    for asked in [
        &["Add File: docs/a", "Add File: b"][..],
        &["Update File: docs/a", "Move to: b"],
        &["Add File: src/deep/a.rs"],
        &["Add File: docs/a", "Copy File: b"],
        &[],
    ] {
        check(&policy, "apply_patch", args(asked), Decision::Ask);
    }
    let secret = args(&["Add File: docs/a", "Delete File: docs/secret"]);
    check(&policy, "apply_patch", secret, Decision::Deny);
    check(
        &policy,
        "apply_patch",
        json!({"patch": "  *** Add File: x/secret"}),
        Decision::Deny,
    );
}

// D42: bridged calls pass the same rules.
#[test]
fn rules_hold_for_bridged_calls() {
    let policy = Policy::new(Tier::Exec).rule(command("rm", Decision::Deny));
    let cell = |line: &str| json!({"tool": "Bash", "args": {"command": line}});
    check(&policy, "cell", cell("rm x"), Decision::Deny);
    check(&policy, "cell", cell("ls"), Decision::Allow);
}
