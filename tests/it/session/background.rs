//! The background session of a checkout: found, started, shared, ended.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};

use super::driver::{Checkout, Driven, LONG};
use crate::support::peers;

pub(crate) const SEARCH: &str = r#"{"pattern":"f($A)","language":"javascript"}"#;

/// A checkout whose background session ends with it.
pub(crate) struct Background(pub(crate) Checkout);

impl Background {
    pub(crate) fn new() -> Self {
        Self(Checkout::new(&[("a.js", "f(1);\n")]))
    }

    fn run(&self, args: &[&str]) -> Output {
        self.0.toolbox(args).output().expect("it runs")
    }

    pub(crate) fn search(&self) -> Output {
        self.run(&["call", "ast_grep", SEARCH, "--background", "--json"])
    }

    fn status(&self) -> Option<Value> {
        let output = self.run(&["session", "status", "--json"]);
        let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        match status["running"] == false {
            true => None,
            false => Some(status),
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        let status = self.status().expect("it runs");
        let pid = status["pid"].as_i64().expect("a number");
        Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid")
    }

    fn folder(&self) -> PathBuf {
        let states = self.0.home().join(".local/state/toolbox");
        let mut entries = std::fs::read_dir(states).expect("a state folder");
        let entry = entries.next().expect("one checkout").expect("readable");
        entry.path().join("session")
    }

    /// A raw client.
    pub(crate) fn connect(&self) -> Client {
        let path = self.folder().join("socket");
        Client::new(UnixStream::connect(path).expect("it serves"))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.run(&["session", "stop", "-q"]);
    }
}

pub(crate) struct Client(pub(crate) Driven);

impl Client {
    fn new(stream: UnixStream) -> Self {
        let mut driven = Driven::over(stream);
        let hello = driven.find("hello", |line| line["hello"].is_object());
        assert_eq!(hello["hello"]["version"], env!("CARGO_PKG_VERSION"));
        Self(driven)
    }
}

pub(crate) fn ended(pid: Pid) -> bool {
    ends_within(pid, LONG)
}

pub(crate) fn ends_within(pid: Pid, patience: std::time::Duration) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let timeout = Timespec::try_from(patience).expect("a short time");
    let mut fds = [PollFd::new(&handle, PollFlags::IN)];
    poll(&mut fds, Some(&timeout)).expect("it can be polled") == 1
}

// It starts by itself and says so once; the second command finds it; status shows and stop ends it.
#[test]
fn it_starts_by_itself_and_is_shown_and_ended() {
    let background = Background::new();
    assert_eq!(background.status(), None);
    let none = background.run(&["session", "status"]);
    assert_eq!(none.status.code(), Some(1));
    let first = background.search();
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    let root = background.0.root();
    let root = root.canonicalize().expect("it exists");
    assert_eq!(
        said,
        format!(
            "note: started a background session for {}; `toolbox session stop` ends it\n",
            root.display()
        )
    );
    let data: Value = serde_json::from_slice(&first.stdout).expect("JSON");
    assert_eq!(data["matches"][0]["captures"]["A"], "1");
    let second = background.search();
    assert_eq!(second.stdout, first.stdout);
    assert_eq!(second.stderr, b"");
    let status = background.status().expect("it runs");
    assert_eq!(status["workspace"], root.display().to_string());
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["calls"], json!([]));
    let mode = std::fs::metadata(background.folder()).expect("it exists");
    assert_eq!(mode.permissions().mode() & 0o777, 0o700);
    let pid = background.pid();
    assert!(background.run(&["session", "stop"]).status.success());
    assert!(ended(pid));
    assert_eq!(background.status(), None);
    assert!(!background.folder().join("socket").exists());
    let again = background.run(&["session", "stop"]);
    assert!(again.status.success(), "ending twice is no error");
}

// Its state folder is named by XDG_RUNTIME_DIR where there is one.
#[test]
fn the_socket_is_in_the_runtime_folder() {
    let background = Background::new();
    let runtime = background.0.home().join("run");
    std::fs::create_dir(&runtime).expect("a folder");
    let run = |args: &[&str]| {
        let mut command = background.0.toolbox(args);
        command.env("XDG_RUNTIME_DIR", &runtime);
        command.output().expect("it runs")
    };
    assert!(
        run(&["call", "ast_grep", SEARCH, "--background"])
            .status
            .success()
    );
    let entries = std::fs::read_dir(runtime.join("toolbox")).expect("a folder");
    assert_eq!(entries.count(), 1);
    assert_eq!(background.status(), None, "nobody serves elsewhere");
    assert!(run(&["session", "stop"]).status.success());
}

// Two that start at once end with one session.
#[test]
fn two_at_once_start_one() {
    let background = Background::new();
    let start = || {
        background
            .0
            .toolbox(&["call", "ast_grep", SEARCH, "--background"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts")
    };
    let commands: Vec<_> = (0..4).map(|_| start()).collect();
    let outputs = commands
        .into_iter()
        .map(|command| command.wait_with_output().expect("it ends"));
    let mut started = 0;
    for output in outputs {
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        started += usize::from(!output.stderr.is_empty());
    }
    assert_eq!(started, 1);
}

// After SIGKILL the socket is stale; the next command starts a new session.
#[test]
fn a_killed_session_is_replaced() {
    let background = Background::new();
    background.search();
    let pid = background.pid();
    kill_process(pid, Signal::KILL).expect("it lives");
    assert!(ended(pid));
    assert!(background.folder().join("socket").exists());
    assert!(background.search().status.success());
    assert_ne!(background.pid(), pid);
}

// It ends by itself when nobody is there; a client that is there keeps it.
#[test]
fn it_ends_when_idle() {
    let background = Background::new();
    // Makes the state folder.
    background.search();
    background.run(&["session", "stop"]);
    let listener = background.folder().join("ready.test");
    let listener = std::os::unix::net::UnixListener::bind(listener).expect("it is free");
    let mut server = background
        .0
        .toolbox(&[
            "background-session",
            "--ready",
            "ready.test",
            "--idle",
            "0.3",
        ])
        .spawn()
        .expect("it starts");
    let (mut word, _) = listener.accept().expect("it says a word");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut word, &mut said).expect("text");
    assert_eq!(said, "ready");
    let mut client = background.connect();
    client.0.send(json!({"id": 1, "tool": "ast_grep", "args": serde_json::from_str::<Value>(SEARCH).expect("JSON")}));
    assert_eq!(client.0.answer(1)["ok"], true);
    assert!(server.try_wait().expect("it is ours").is_none());
    drop(client);
    assert!(ended(Pid::from_child(&server)));
    assert!(server.wait().expect("it is ours").success());
}

// Many clients, each with ids of its own, one run; the fields `approved` and `approve`; no host tools.
#[test]
fn clients_share_one_run() {
    let background = Background::new();
    background.search();
    let (mut one, mut two) = (background.connect(), background.connect());
    let edit = json!({"pattern": "f($A)", "rewrite": "g($A)", "language": "javascript"});
    one.0
        .send(json!({"id": 1, "tool": "ast_edit", "args": edit, "approved": true}));
    let staged = one.0.answer(1);
    assert_eq!(staged["data"]["edit_id"], "edit_1");
    // The same id elsewhere is another call, and the run is the same.
    let accept = json!({"edit_id": "edit_1", "action": "discard"});
    two.0
        .send(json!({"id": 1, "tool": "resolve", "args": accept, "approved": true}));
    assert_eq!(two.0.answer(1)["ok"], true);
    two.0.send(json!({"register": {"name": "x", "tier": "read", "description": "", "schema": {"type": "object"}}}));
    let refused = two.0.find("refusal", |line| line["register"] == "x");
    assert_eq!(refused["error"]["kind"], "invalid_args");
}

// Of another version it is told apart and replaced.
#[test]
fn another_build_is_replaced() {
    let background = Background::new();
    let copy = background.0.home().join("toolbox");
    // By another process: what this one has open for writing, a fork of another test may hold as it starts.
    let mut cp = background.0.command("cp");
    let copied = cp.arg(env!("CARGO_BIN_EXE_toolbox")).arg(&copy).status();
    assert!(copied.expect("it runs").success());
    let by_the_copy = || {
        let mut command = Command::new(&copy);
        command
            .args(["call", "ast_grep", SEARCH, "--background"])
            .env_clear()
            .env("HOME", background.0.home())
            .current_dir(background.0.root());
        command.output().expect("it runs")
    };
    assert!(by_the_copy().status.success());
    let old = background.pid();
    let output = background.search();
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("of another build") && said.contains("started"),
        "{said}"
    );
    assert!(ended(old));
    assert_ne!(background.pid(), old);
}

// It holds no stream of the command that started it, and none that the command was given by mistake.
#[test]
fn it_holds_nothing_of_its_starter() {
    let background = Background::new();
    // The shell gives its own pipe on as descriptor 7; the substitution ends when nobody holds it.
    let script =
        format!("exec 7>&1; \"$0\" call ast_grep '{SEARCH}' --background -q 7>&7; echo done");
    let output = background
        .0
        .command("/bin/sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_toolbox")])
        .output()
        .expect("it ends");
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("done\n"));
    let folder = format!("/proc/{}/fd", background.pid());
    let pipes = std::fs::read_dir(folder)
        .expect("it lives")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("pipe:"))
        .count();
    assert_eq!(pipes, 0);
}

/// What another user's program does at a socket: it says that it could connect, and what it then heard.
const STRANGER: &str = "
import socket, sys
stranger = socket.socket(socket.AF_UNIX)
stranger.connect(sys.argv[1])
print('connected')
stranger.settimeout(60)
try:
    print(stranger.recv(100)[:8])
except ConnectionError:
    print(b'')
";

// Another user is refused by who they are, also where the modes of folder and socket let them in.
#[test]
fn another_user_is_refused_at_the_socket() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: the right to be another user missing");
        return;
    }
    const OTHER: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let background = Background::new();
    let usable = |python: &PathBuf| {
        let mut command = background.0.command("setpriv");
        command
            .args(OTHER)
            .arg(python)
            .args(["-c", "import socket"]);
        let status = command.stderr(Stdio::null()).current_dir("/").status();
        status.is_ok_and(|status| status.success())
    };
    let folders = peers::folders().into_iter();
    let mut pythons = folders.map(|folder| folder.join("python3"));
    let Some(python) = pythons.find(usable) else {
        println!("skipped: python3 for another user missing");
        return;
    };
    background.search();
    let socket = background.folder().join("socket");
    let home = background.0.home();
    let above = home.parent().expect("it has one");
    // Every folder on the way, and the socket itself.
    let way = socket.ancestors();
    for path in way.take_while(|path| path.starts_with(above)) {
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(path, open).expect("ours");
    }
    let hears = |who: &[&str]| {
        let mut command = background.0.command("setpriv");
        command
            .args(who)
            .arg(&python)
            .args(["-c", STRANGER])
            .arg(&socket);
        let output = command.current_dir("/").output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8_lossy(&output.stdout).into_owned(), said)
    };
    let (own, said) = hears(&["--reuid=0"]);
    assert_eq!(own, "connected\nb'{\"hello\"'\n", "{said}");
    let (other, said) = hears(&OTHER);
    assert_eq!(other, "connected\nb''\n", "{said}");
    assert!(background.search().status.success(), "it still serves");
}
