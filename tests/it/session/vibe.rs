//! Workers at a terminal and in a session, and what they inherit.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::background::{Background, ends_within};
use super::driver::{Checkout, LONG};

/// Names workers in the user's own file.
fn configure(checkout: &Checkout, text: &str) {
    let folder = checkout.home().join(".config/toolbox");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("toolbox.toml"), text).expect("a file");
}

const ECHO: &str = r#"
[vibe.fast]
command = ["sh", "-c", "echo \"got $1\"", "worker"]
"#;

fn run(checkout: &Checkout, args: &[&str]) -> (Option<i32>, Value, String) {
    let output = checkout.toolbox(args).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), value, said)
}

// Issue 6: workers outlive the command that spawned them, in the background session.
#[test]
fn a_worker_is_spawned_waited_for_and_listed_by_commands() {
    let background = Background::new();
    let checkout = &background.0;
    configure(checkout, ECHO);
    let (code, data, said) = run(checkout, &["vibe", "spawn", "the brief\nmore", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(data["workers"][0]["id"], "worker_1");
    assert_eq!(data["workers"][0]["label"], "the brief");
    let timeout = LONG.as_secs().to_string();
    let wait = ["vibe", "wait", "worker_1", "--timeout", &timeout, "--json"];
    let (code, data, _) = run(checkout, &wait);
    assert_eq!(
        (code, &data["workers"][0]["result"]),
        (Some(0), &json!("got the brief\nmore\n"))
    );
    let (_, data, _) = run(checkout, &["vibe", "send", "worker_1", "again", "--json"]);
    assert_eq!(data["note"], "runs_again");
    let (_, data, _) = run(checkout, &wait);
    assert_eq!(
        data["workers"][0]["result"],
        "got the brief\nmore\n\nagain\n"
    );
    let (_, text, _) = run(checkout, &["vibe", "list"]);
    let text = text.as_str().expect("text");
    assert!(
        text.starts_with("worker_1 (fast) the brief: done after"),
        "{text}"
    );
    let (code, _, said) = run(checkout, &["vibe", "kill", "worker_2"]);
    assert_eq!(code, Some(3));
    assert!(said.contains("the workers are: worker_1"), "{said}");
}

// R129: without a worker there is no vibe mode, and that is said.
#[test]
fn without_a_worker_there_is_no_vibe_mode() {
    let checkout = Checkout::new(&[]);
    for args in [&["vibe", "list"][..], &["session", "--vibe"]] {
        let (code, _, said) = run(&checkout, args);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("[vibe.fast] command"), "{said}");
    }
    configure(&checkout, ECHO);
    let mut session = checkout.session(&[]);
    session.send(json!({"list": "tools"}));
    let tools = session.find("tools", |line| line["tools"].is_array());
    assert!(!tools["tools"].to_string().contains("vibe_spawn"));
    let (code, _, said) = {
        let output = checkout
            .toolbox(&["vibe", "spawn"])
            .output()
            .expect("it runs");
        (
            output.status.code(),
            (),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert_eq!(code, Some(2), "{said}");
}

/// A worker that is a session with its brief as flags: it calls Write and Bash, and its result is the answers.
fn session_worker() -> String {
    let binary = env!("CARGO_BIN_EXE_toolbox");
    // The session gets its calls, and lives until both are answered.
    let write = json!({"id": 1, "tool": "Write", "args": {"path": "made", "content": "x"}});
    let bash = json!({"id": 2, "tool": "Bash", "args": {"command": "true"}});
    format!(
        "mkfifo in out
         {binary} session $1 <in >out &
         exec 3>in
         printf '%s\\n' '{write}' '{bash}' >&3
         n=0
         while [ $n -lt 2 ] && read -r line; do
             printf '%s\\n' \"$line\"
             case $line in *'\"ok\":'*) n=$((n + 1));; esac
         done <out"
    )
}

// R130: a worker that is a session has the surface and the approvals of its run, whatever its flags say.
#[test]
fn a_worker_inherits_the_gate_of_its_run() {
    let script = session_worker();
    let toml = |script: &str| {
        let words = json!(["sh", "-c", script, "worker"]);
        format!(
            "[vibe.fast]\ncommand = {words}\n[vibe.good]\ncommand = [\"echo\", \"{{approve}} {{surface}}\"]\n"
        )
    };
    let answers = |session: &[&str], flags: &str| -> (String, String, String) {
        let checkout = Checkout::new(&[]);
        configure(&checkout, &toml(&script));
        let mut session = checkout.session(session);
        let spawn = json!({"brief": flags, "label": "x"});
        session.call(1, "vibe_spawn", spawn);
        assert_eq!(session.answer(1)["ok"], true);
        let wait = |id: &str| json!({"worker_id": id, "timeout_seconds": LONG.as_secs()});
        session.call(2, "vibe_wait", wait("worker_1"));
        let worker = session.answer(2)["data"]["workers"][0].clone();
        let result = worker["result"].as_str().unwrap_or_default();
        let of = |id: i64| -> String {
            let mut lines = result
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let line = lines.find(|line| line["id"] == id && line["event"].is_null());
            let line = line.unwrap_or_else(|| panic!("no answer {id} in {worker}"));
            match line["ok"] == true {
                true => "ok".to_owned(),
                false => line["error"]["kind"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            }
        };
        let (write, bash) = (of(1), of(2));
        session.call(
            3,
            "vibe_spawn",
            json!({"brief": "x", "label": "x", "tier": "good"}),
        );
        assert_eq!(session.answer(3)["ok"], true);
        session.call(4, "vibe_wait", wait("worker_2"));
        let told = session.answer(4)["data"]["workers"][0]["result"].clone();
        (write, bash, told.as_str().unwrap_or_default().to_owned())
    };
    let case = |session: &[&str], flags: &str, expected: [&str; 3]| {
        let (write, bash, told) = answers(session, flags);
        assert_eq!([&*write, &*bash, &*told], expected, "{session:?}");
    };
    // `x` is the argument that {brief} leaves behind the command.
    case(
        &["--vibe", "--approve", "write"],
        "--approve=exec",
        ["ok", "denied", "write all x\n"],
    );
    case(
        &["--vibe", "--approve", "exec"],
        "--approve=write",
        ["ok", "denied", "exec all x\n"],
    );
    let plan = ["--vibe", "--approve", "exec", "--surface", "plan"];
    case(
        &plan,
        "--approve=exec",
        ["unknown_tool", "unknown_tool", "exec plan x\n"],
    );
}

// R130: what the configuration of the run denies is denied to its workers, whatever file they name themselves;
// an agent's allowlist leaves a run without workers.
#[test]
fn a_worker_reads_the_configuration_of_its_run() {
    let checkout = Checkout::new(&[]);
    let command = json!(["sh", "-c", session_worker(), "worker"]);
    let strict = format!("[approval.tools]\nBash = \"deny\"\n[vibe.fast]\ncommand = {command}\n");
    fs::write(checkout.root().join("strict.toml"), strict).expect("a file");
    fs::write(checkout.root().join("lax.toml"), "").expect("a file");
    let flags = ["--vibe", "--approve", "exec", "--config", "strict.toml"];
    let mut session = checkout.session(&flags);
    session.call(
        1,
        "vibe_spawn",
        json!({"brief": "--approve=exec --config=lax.toml", "label": "x"}),
    );
    assert_eq!(session.answer(1)["ok"], true);
    let wait = json!({"worker_id": "worker_1", "timeout_seconds": LONG.as_secs()});
    session.call(2, "vibe_wait", wait);
    let result = session.answer(2)["data"]["workers"][0]["result"].clone();
    let result = result.as_str().expect("a result");
    let answer = |id: i64| -> Value {
        let lines = result
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut answers = lines.filter(|line| line["id"] == id && line["event"].is_null());
        answers
            .next()
            .unwrap_or_else(|| panic!("no answer {id} in {result}"))
    };
    assert_eq!(answer(1)["ok"], true, "{result}");
    assert_eq!(answer(2)["error"]["kind"], "denied", "{result}");

    let agent = json!({"name": "a", "tools":
        [{"type": "agent_toolset_20260401", "enabled_tools": ["Read", "Bash"]}]});
    fs::write(checkout.root().join("agent.json"), agent.to_string()).expect("a file");
    let mut session = checkout.session(&[&flags[..], &["--agent", "agent.json"]].concat());
    session.send(json!({"list": "tools"}));
    let tools = session.find("tools", |line| line["tools"].is_array());
    let names = tools["tools"].to_string();
    assert!(
        names.contains("\"Bash\"") && !names.contains("vibe_spawn"),
        "{names}"
    );
}

// The end of the session is the end of its workers.
#[test]
fn the_end_of_a_session_kills_its_workers() {
    let checkout = Checkout::new(&[]);
    configure(
        &checkout,
        "[vibe.fast]\ncommand = [\"sh\", \"-c\", \"setsid sleep 300 & echo $! > pid; wait\"]\n",
    );
    let mut session = checkout.session(&["--vibe"]);
    session.call(1, "vibe_spawn", json!({"brief": "x", "label": "x"}));
    assert_eq!(session.answer(1)["ok"], true);
    let pid = checkout.root().join("pid");
    let read = || fs::read_to_string(&pid).unwrap_or_default();
    let mut id = 2;
    while !read().ends_with('\n') {
        // Each wait is a look that costs the machine nothing.
        let wait = json!({"worker_id": "worker_1", "timeout_seconds": 0.05});
        session.call(id, "vibe_wait", wait);
        assert_eq!(session.answer(id)["data"]["note"], "still_running");
        id += 1;
    }
    let (_, status) = session.end();
    assert!(status.success());
    let stat = fs::read_to_string(format!("/proc/{}/stat", read().trim()));
    assert!(stat.map_or(true, |stat| stat.contains(") Z ")));
}

// A background session that nobody uses ends, but not while a worker works.
#[test]
fn a_worker_keeps_the_background_session() {
    let background = Background::new();
    let checkout = &background.0;
    configure(
        checkout,
        "session.idle_s = 0.2\n[vibe.fast]\ncommand = [\"sh\", \"-c\", \"cat gate\"]\n",
    );
    let made = checkout.command("mkfifo").arg("gate").status();
    assert!(made.expect("it runs").success());
    let (code, _, said) = run(checkout, &["vibe", "spawn", "x"]);
    assert_eq!(code, Some(0), "{said}");
    let pid = background.pid();
    assert!(!ends_within(pid, Duration::from_secs(1)), "a worker works");
    fs::write(checkout.root().join("gate"), "").expect("the worker reads");
    assert!(ends_within(pid, LONG), "nobody is there any more");
}
