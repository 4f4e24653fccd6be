//! What a session holds: the processes of its tools, their order, and what happens deep inside a call.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::sync::mpsc::channel;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use serde_json::{Value, json};

use super::background::{Background, ended};
use super::driver::{Checkout, Driven, LONG};
use crate::support::peers;
use crate::support::terminal::Terminal;

/// A shell that starts another process, which leaves its group and its terminal, and then says both numbers.
const TWO_PROCESSES: &str =
    "setsid sleep 600 >/dev/null 2>&1 & echo $$ $! > numbers; exec sleep 600";

/// Makes the pipe that [`TWO_PROCESSES`] writes to; what comes back waits for the two and returns them.
fn numbers(checkout: &Checkout) -> impl FnOnce() -> Vec<Pid> {
    let pipe = checkout.root().join("numbers");
    let made = checkout.command("mkfifo").arg(&pipe).status();
    assert!(made.expect("it runs").success());
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let file = File::open(pipe).expect("it is there");
        BufReader::new(file).read_line(&mut line).expect("text");
        let _ = sender.send(line);
    });
    move || {
        let line = lines.recv_timeout(LONG).expect("the shell runs");
        let pids: Vec<Pid> = line
            .split_whitespace()
            .map(|word| Pid::from_raw(word.parse().expect("a number")).expect("a process"))
            .collect();
        assert_eq!(pids.len(), 2, "{line}");
        for pid in &pids {
            assert!(pidfd_open(*pid, PidfdFlags::empty()).is_ok(), "it lives");
        }
        pids
    }
}

// R3: the end of input, a signal and SIGKILL end every process of the run, also one that left its group.
#[test]
fn no_process_outlives_its_session() {
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let checkout = Checkout::new(&[]);
        let numbers = numbers(&checkout);
        let mut session = checkout.session(&["--approve", "exec"]);
        session.call(1, "Bash", json!({"command": TWO_PROCESSES}));
        let pids = numbers();
        match signal {
            None => assert!(session.end().1.success()),
            Some(signal) => {
                session.signal(signal);
                assert_eq!(session.wait().signal(), Some(signal.as_raw()));
            }
        }
        for pid in pids {
            assert!(ended(pid), "{signal:?}");
        }
    }
}

// R71: calls of a tool that is not parallel-safe run in the order of their lines, however many threads there
// are, and hold up no other tool.
#[test]
fn calls_that_take_turns_keep_their_order() {
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let mut session = checkout.session(&[]);
    session.send(json!({"register": {
        "name": "step", "tier": "read", "description": "", "parallel_safe": false,
        "schema": {"type": "object"},
    }}));
    for id in 0..300 {
        session.call(id, "step", json!({"number": id}));
    }
    let search = json!({"pattern": "f($A)", "language": "javascript"});
    session.call("search", "ast_grep", search);
    assert_eq!(session.answer("search")["ok"], true);
    for id in 0..300 {
        let call = session.event("call");
        assert_eq!(call["args"]["number"], id);
        session.send(json!({"return": call["call"]}));
    }
    for id in 0..300 {
        assert_eq!(session.answer(id)["ok"], true);
    }
}

// R142: commands of the shell share a working folder, so they keep their order too; a question about one in the
// background does not wait behind them.
#[test]
fn commands_keep_their_order() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&["--approve", "exec"]);
    let background = json!({"command": "sleep 600", "run_in_background": true});
    session.call("background", "Bash", background);
    let id = session.answer("background")["data"]["background_id"].clone();
    for number in 0..30 {
        let command = format!("mkdir {number}; cd {number}");
        session.call(number, "Bash", json!({"command": command}));
    }
    session.call("last", "Bash", json!({"command": "sleep 600"}));
    session.call("about", "Bash", json!({"background_id": id}));
    assert_eq!(session.answer("about")["data"]["running"], true);
    for number in 0..30 {
        let folders: Vec<String> = (0..=number).map(|number| number.to_string()).collect();
        assert_eq!(session.answer(number)["data"]["cwd"], folders.join("/"));
    }
    session.send(json!({"cancel": "last"}));
    assert_eq!(session.answer("last")["error"]["kind"], "cancelled");
}

// R108, R109, R117: a cell asks the person through the bridge, and the client gets the card.
#[test]
fn a_cell_asks_through_its_session() {
    if peers::find("python3").is_none() {
        return;
    }
    let checkout = Checkout::new(&[]);
    let mut command = checkout.toolbox(&["session", "--approve", "exec", "--questions"]);
    let mut session = Driven::start(command.env("PATH", peers::path()));
    let code = "tool('ask_user', {'question': 'Which?', 'options': [{'label': 'a'}, {'label': 'b'}]}).data['labels']";
    let args = json!({"description": "asks the person", "code": code});
    session.call(1, "eval", args);
    let event = session.event("question");
    assert_eq!(event["card"]["question"], "Which?");
    session.send(json!({"answer": event["question"], "choices": [2]}));
    assert_eq!(session.answer(1)["data"]["result"], "['b']");
    let inner = session.find("event", |line| line["name"] == "ask_user");
    assert_eq!(
        (&inner["id"], &inner["outer"]),
        (&json!(1), &json!(["eval"]))
    );
}

// R99, D40: in a session a cell has a description.
#[test]
fn a_cell_of_a_session_is_described() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&["--approve", "exec"]);
    session.call(1, "eval", json!({"code": "1"}));
    let error = &session.answer(1)["error"];
    assert_eq!(error["kind"], "invalid_args");
    let message = error["message"].as_str().expect("text");
    assert!(message.contains("description"), "{message}");
}

// R150: a delivery is an event of the call that made it; one that failed is none.
#[test]
fn a_delivery_is_an_event() {
    let checkout = Checkout::new(&[("report.txt", "done\n")]);
    let mut session = checkout.session(&["--approve", "write"]);
    session.call(1, "DeliverArtifacts", json!({"paths": ["none.txt"]}));
    assert_eq!(session.answer(1)["ok"], false);
    session.call("two", "DeliverArtifacts", json!({"paths": ["report.txt"]}));
    let answer = session.answer("two");
    assert_eq!(answer["ok"], true, "{answer}");
    let event = session.event("artifacts");
    assert_eq!(event["id"], "two");
    assert_eq!(event["artifacts"], answer["data"]["artifacts"]);
    assert_eq!(event["artifacts"][0]["path"], "report.txt");
    assert!(!session.has_seen(|line| line["event"] == "artifacts"));
}

// R1, R2: the tools are the runtime's own and no others, and who speaks MCP sees none of them.
#[test]
fn the_tools_are_the_runtimes_and_no_client_of_mcp_sees_them() {
    let checkout = Checkout::new(&[]);
    let list = |session: &mut Driven| {
        session.send(json!({"list": "tools"}));
        session.find("list", |line| line["tools"].is_array())
    };
    let names_of = |list: &Value, key: &str| -> Vec<String> {
        let tools = list[key].as_array().expect("a list").iter();
        tools
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    // R8, D34: what plan mode and read-only sub-agents see, exactly.
    let plan = list(&mut checkout.session(&["--surface", "plan"]));
    assert_eq!(
        names_of(&plan, "tools").join(" "),
        "Glob Grep Read WebFetch ask_user ast_grep lsp"
    );
    let mut session = checkout.session(&[]);
    let shown = list(&mut session);
    let mut all = [names_of(&shown, "tools"), names_of(&shown, "unavailable")].concat();
    all.sort();
    assert_eq!(
        all.join(" "),
        "Bash DeliverArtifacts Edit Glob Grep Read WebFetch WebSearch Write apply_patch ask_user ast_edit \
         ast_grep debug eval lsp lsp_rename resolve vibe_kill vibe_list vibe_send vibe_spawn vibe_wait"
    );
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
    for (id, method, params) in [
        (1, "initialize", hello),
        (2, "tools/list", json!({})),
        (3, "tools/call", json!({"name": "lsp", "arguments": {}})),
    ] {
        session.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = session.answer(id);
        assert_eq!(answer["error"]["kind"], "invalid_args", "{answer}");
        assert!(answer["result"].is_null(), "{answer}");
    }
}

// The status shows what lives in the background; an interrupt of a command ends its call and every process of
// it, and the session stays.
#[test]
fn an_interrupted_command_ends_its_call_alone() {
    let background = Background::new();
    background.search();
    let numbers = numbers(&background.0);
    let args = json!({"command": TWO_PROCESSES}).to_string();
    let command = background
        .0
        .toolbox(&["call", "Bash", &args, "--background"]);
    let mut terminal = Terminal::start(&command);
    let pids = numbers();
    let status = background.0.toolbox(&["session", "status"]).output();
    let status = String::from_utf8_lossy(&status.expect("it runs").stdout).into_owned();
    assert!(status.contains("call Bash (running)\n"), "{status}");
    assert!(status.contains("\nprocess "), "{status}");
    let session = background.pid();
    terminal.types("\x03");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(3), "{screen}");
    assert!(screen.contains("cancelled"), "{screen}");
    for pid in pids {
        assert!(ended(pid));
    }
    let mut client = background.connect();
    client.0.send(json!({"status": true}));
    let status = client.0.find("status", |line| line["status"].is_object());
    let empty: Value = json!([]);
    assert_eq!(status["status"]["calls"], empty);
    assert_eq!(status["status"]["processes"], empty);
    assert_eq!(background.pid(), session);
}

// The status of the background session says what its tools keep, and waits for none of them.
#[test]
fn the_status_says_what_the_tools_keep() {
    let background = Background::new();
    background.search();
    let mut client = background.connect();
    let holds = || {
        let status = background
            .0
            .toolbox(&["session", "status", "--json"])
            .output();
        let status: Value = serde_json::from_slice(&status.expect("it runs").stdout).expect("JSON");
        status["holds"].clone()
    };
    assert_eq!(holds(), json!([]));
    let edit = json!({"pattern": "f($A)", "rewrite": "g($A)", "language": "javascript"});
    let forever = json!({"command": "sleep 600", "run_in_background": true});
    // The cell waits for a line that nobody writes.
    let pipe = background.0.root().join("pipe");
    let made = background.0.command("mkfifo").arg(&pipe).status();
    assert!(made.expect("it runs").success());
    let cell = json!({"description": "waits for a line", "code": "open('pipe').read()"});
    for (id, tool, args) in [
        (1, "ast_edit", edit),
        (2, "Bash", forever),
        (3, "eval", cell),
    ] {
        client
            .0
            .send(json!({"id": id, "tool": tool, "args": args, "approved": true}));
    }
    for id in [1, 2] {
        assert_eq!(client.0.answer(id)["ok"], true);
    }
    let held = |tool: &str, what: &str, state: &str, detail: &str| json!({"tool": tool, "what": what, "state": state, "detail": detail});
    let mut expected = vec![held("Bash", "background command", "running", "bash_1")];
    if peers::find("python3").is_some() {
        let interpreter = held("eval", "interpreter", "runs a cell", "python");
        let deadline = std::time::Instant::now() + LONG;
        while !holds().as_array().expect("a list").contains(&interpreter) {
            assert!(std::time::Instant::now() < deadline, "{}", holds());
        }
        expected.push(interpreter);
    }
    let edit = "edit_1, 1 replacement in 1 file";
    expected.push(held("resolve", "staged edit", "pending", edit));
    assert_eq!(holds(), Value::Array(expected));
    let text = background.0.toolbox(&["session", "status"]).output();
    let text = String::from_utf8_lossy(&text.expect("it runs").stdout).into_owned();
    assert!(
        text.contains("\nbackground command bash_1 (running)\n"),
        "{text}"
    );
    assert!(
        text.contains(&format!("\nstaged edit {edit} (pending)\n")),
        "{text}"
    );
}
