//! The API over HTTP, against the real server on loopback.

mod limits;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::peers;

const TOKEN: &str = "pat_0123456789";

/// A server of its own, which ends with the value.
struct Server {
    folder: tempfile::TempDir,
    process: Child,
    addr: String,
}

impl Server {
    fn start() -> Self {
        Self::over(tempfile::tempdir().expect("a folder"))
    }

    fn over(folder: tempfile::TempDir) -> Self {
        let token = folder.path().join("token");
        fs::write(&token, format!("{TOKEN}\n")).expect("a file");
        Self::launch(folder, |command| {
            command.arg("--token-file").arg(&token);
        })
    }

    /// Starts a server whose token `configure` gives.
    fn launch(folder: tempfile::TempDir, configure: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command
            .args(["agent", "serve", "--addr", "127.0.0.1:0"])
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .stdout(Stdio::piped());
        configure(&mut command);
        let mut process = command.spawn().expect("the server starts");
        let mut line = String::new();
        let stdout = process.stdout.as_mut().expect("it is piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("it says where it listens");
        let addr = line
            .trim()
            .rsplit('/')
            .next()
            .expect("an address")
            .to_owned();
        Self {
            folder,
            process,
            addr,
        }
    }

    fn kill(mut self) -> tempfile::TempDir {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it was started here");
        std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a folder"))
    }

    fn client(&self) -> Client {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)));
        Client {
            agent: config.build().into(),
            base: format!("http://{}/api/v1/cloud/agents", self.addr),
        }
    }

    fn raw(&self, request: &str) -> (TcpStream, String) {
        let mut stream = TcpStream::connect(&self.addr).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
        reader.read_line(&mut answer).expect("it answers");
        (stream, answer)
    }

    /// Waits for its end, which somebody else has asked for.
    fn ends(&mut self) -> ExitStatus {
        self.process.wait().expect("it was started here")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Client {
    agent: ureq::Agent,
    base: String,
}

impl Client {
    fn get(&self, path: &str) -> (u16, Value) {
        let request = self.agent.get(format!("{}{path}", self.base));
        read(
            request
                .header("Authorization", format!("Bearer {TOKEN}"))
                .call(),
        )
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.agent.post(format!("{}{path}", self.base));
        let request = request.header("Authorization", format!("Bearer {TOKEN}"));
        read(request.send(body.to_string()))
    }

    fn put(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.agent.put(format!("{}{path}", self.base));
        let request = request.header("Authorization", format!("Bearer {TOKEN}"));
        read(request.send(body.to_string()))
    }

    fn create(&self, body: Value) -> String {
        let (status, agent) = self.post("", &body);
        assert_eq!((status, &agent["version"]), (200, &json!(1)), "{agent}");
        agent["id"].as_str().expect("an id").to_owned()
    }
}

fn read(response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> (u16, Value) {
    let mut response = response.expect("an answer");
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string().expect("a body");
    (status, serde_json::from_str(&text).expect("JSON"))
}

fn tools(names: &[&str]) -> Value {
    json!([{ "type": "agent_toolset_20260401", "enabled_tools": names }])
}

fn refused(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

// R159, R162 to R166, R168, T9, T10, T11, T14.
#[test]
fn an_agent_is_made_replaced_and_echoed() {
    let server = Server::start();
    let client = server.client();
    let given = tools(&["Write", "Bash", "Read"]);
    let id =
        client.create(json!({ "name": "a", "model": "m", "instructions": "i", "tools": given }));
    let path = format!("/{id}");
    assert_eq!(client.get(&path).1["tools"], given);
    let (status, agent) = client.put(&path, &json!({ "version": 1, "name": "b" }));
    assert_eq!(
        (status, &agent["version"], &agent["name"]),
        (200, &json!(2), &json!("b"))
    );
    for gone in ["tools", "model", "instructions"] {
        assert_eq!(agent[gone], Value::Null, "{gone}");
    }
    let conflict = refused(
        "conflict_error",
        "Version conflict. Expected version 2, got 1.",
    );
    assert_eq!(
        client.put(&path, &json!({ "version": 1, "name": "c" })),
        (409, conflict)
    );
    assert_eq!(client.get(&path).1, agent);
    assert_eq!(client.get(&format!("{path}?version=1")).1["tools"], given);
    assert_eq!(client.get("").1["data"], json!([agent]));
}

// R157, R158, D30, T4 to T6, T12, T17: what is refused, and in which envelope.
#[test]
fn bad_requests_have_one_envelope() {
    let server = Server::start();
    let client = server.client();
    let invalid = |message: &str| (400, refused("invalid_request_error", message));
    let unknown = |name: &str| invalid(&format!("unknown tool name '{name}'"));
    let post = |body: Value| client.post("", &body);
    assert_eq!(post(json!({ "tools": tools(&["Foo"]) })), unknown("Foo"));
    assert_eq!(post(json!({ "tools": tools(&["bash"]) })), unknown("bash"));
    for wrong in [
        json!([{ "type": "bash_20250124" }]),
        json!([{ "type": "agent_toolset_20270401" }]),
    ] {
        let (status, body) = post(json!({ "tools": wrong }));
        assert_eq!(
            (status, &body["error"]["type"]),
            (400, &json!("invalid_request_error"))
        );
    }
    let id = client.create(json!({ "tools": tools(&["DeliverArtifacts"]) }));
    let (status, body) = client.put(&format!("/{id}"), &json!({ "name": "x" }));
    assert_eq!(
        (status, &body["error"]["type"]),
        (400, &json!("invalid_request_error"))
    );
    assert_eq!(
        client.put(
            &format!("/{id}"),
            &json!({ "version": 1, "tools": tools(&["Foo"]) })
        ),
        unknown("Foo")
    );
    assert_eq!(client.get(&format!("/{id}")).1["version"], json!(1));
    let missing = (404, refused("not_found_error", "no agent 'agent_none'"));
    assert_eq!(client.get("/agent_none"), missing);
    assert_eq!(client.put("/agent_none", &json!({ "version": 1 })), missing);
    assert_eq!(client.get("/a/b/c/d/e").0, 404);
    assert_eq!(client.get(&format!("/{id}?version=9")).0, 404);
    assert_eq!(client.get(&format!("/{id}?version=x")).0, 400);
    assert_eq!(client.get(&format!("/{id}?version=1&version=1")).0, 400);
    let (_, first) = server.raw(&format!(
        "DELETE /api/v1/cloud/agents HTTP/1.1\r\nHost: x\r\nAuthorization: bearer {TOKEN}\r\n\r\n"
    ));
    assert!(first.starts_with("HTTP/1.1 405"), "{first}");
}

// R159: nothing is told without the token.
#[test]
fn without_the_token_nothing_is_told() {
    let server = Server::start();
    for header in [
        "",
        "Authorization: Bearer wrong_token\r\n",
        "Authorization: Basic pat_0123456789\r\n",
        "Authorization: Bearer \r\n",
        "Authorization: Bearer pat_0123456789x\r\n",
    ] {
        for path in ["/api/v1/cloud/agents", "/other"] {
            let (mut stream, first) = server.raw(&format!(
                "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\r\n"
            ));
            assert!(first.starts_with("HTTP/1.1 401"), "{header}: {first}");
            let mut rest = String::new();
            stream.read_to_string(&mut rest).expect("a body");
        }
    }
}

// R167, R171, T13, T16: sessions keep their tools and take none of their own.
#[test]
fn a_session_keeps_the_tools_that_it_began_with() {
    let server = Server::start();
    let client = server.client();
    let id = client.create(json!({ "tools": [{ "type": "agent_toolset_20260401" }] }));
    let sessions = format!("/{id}/sessions");
    let (status, first) = client.post(&sessions, &json!({}));
    assert_eq!((status, &first["agent_version"]), (200, &json!(1)));
    assert_eq!(
        client.put(&format!("/{id}"), &json!({ "version": 1 })).0,
        200
    );
    let (_, second) = client.post(&sessions, &json!({}));
    let listed = |session: &Value| {
        let id = session["id"].as_str().expect("an id");
        client.get(&format!("{sessions}/{id}/tools")).1["tools"].clone()
    };
    let names: Vec<Value> = listed(&first)
        .as_array()
        .expect("a list")
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert!(names.contains(&json!("ast_grep")), "{names:?}");
    assert_eq!(listed(&second), json!([]));
    let (status, body) = client.post(&sessions, &json!({ "tools": tools(&["Bash"]) }));
    assert_eq!(
        (status, &body["error"]["type"]),
        (400, &json!("invalid_request_error"))
    );
    assert_eq!(client.get(&format!("{sessions}/session_none")).0, 404);
    assert_eq!(client.post("/agent_none/sessions", &json!({})).0, 404);
}

// R164, T18: of two racing replacements one gets 200 and one 409, a thousand times.
#[test]
fn of_two_racing_replacements_one_wins() {
    let server = Server::start();
    let id = server.client().create(json!({}));
    let path = format!("/{id}");
    let start = Barrier::new(2);
    let race = || {
        // Each keeps its connection.
        let client = server.client();
        (1..=1000u64)
            .map(|round| {
                start.wait();
                let (status, body) = client.put(&path, &json!({ "version": round }));
                // Nobody begins the next round before both have their answer.
                start.wait();
                if status == 409 {
                    let message = format!(
                        "Version conflict. Expected version {}, got {round}.",
                        round + 1
                    );
                    assert_eq!(body["error"]["message"], json!(message));
                }
                status
            })
            .collect::<Vec<u16>>()
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(race);
        (race(), other.join().expect("no panic"))
    });
    for (round, (one, other)) in one.iter().zip(&other).enumerate() {
        assert_eq!(one.min(other), &200, "round {round}");
        assert_eq!(one.max(other), &409, "round {round}");
    }
}

// R164: SIGKILL at any moment of a replacement leaves the old version or the new one.
#[test]
fn a_killed_server_leaves_the_old_or_the_new() {
    let mut folder = tempfile::tempdir().expect("a folder");
    let mut id = String::new();
    let mut version = 1u64;
    for round in 0..24u64 {
        let server = Server::over(folder);
        if id.is_empty() {
            id = server.client().create(json!({ "name": "1" }));
        }
        let body = json!({ "version": version, "name": (version + 1).to_string() }).to_string();
        let request = format!(
            "PUT /api/v1/cloud/agents/{id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(&server.addr).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        // The wait for an answer is cut off ever later, so that the kill meets every step.
        stream
            .set_read_timeout(Some(Duration::from_micros(1 + round * 150)))
            .expect("a timeout");
        let _ = stream.read(&mut [0; 512]);
        folder = server.kill();
        let server = Server::over(folder);
        let (status, agent) = server.client().get(&format!("/{id}"));
        assert_eq!(status, 200, "{agent}");
        let now = agent["version"].as_u64().expect("a number");
        assert!(now == version || now == version + 1, "{agent}");
        assert_eq!(agent["name"], json!(now.to_string()), "it is whole");
        version = now;
        folder = server.kill();
    }
}

// R159: heads and bodies have a limit, and a slow client holds nobody up.
#[test]
fn large_and_slow_clients_are_bounded() {
    let server = Server::start();
    // Half a head, kept open while others are served.
    let mut slow = TcpStream::connect(&server.addr).expect("it listens");
    slow.write_all(b"POST /api/v1/cloud/agents HTTP/1.1\r\nHost:")
        .expect("it reads");
    let client = server.client();
    // A name of exactly the limit less the rest of the body, and one byte more.
    let body = |bytes: usize| json!({ "name": "x".repeat(bytes - r#"{"name":""}"#.len()) });
    assert_eq!(client.post("", &body(1 << 20)).0, 200);
    let head = format!(
        "POST /api/v1/cloud/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n",
        (1 << 20) + 1
    );
    let mut large = TcpStream::connect(&server.addr).expect("it listens");
    large.write_all(head.as_bytes()).expect("it reads");
    // The server may answer and close before it has taken all of it.
    let _ = large.write_all(body((1 << 20) + 1).to_string().as_bytes());
    let mut first = String::new();
    BufReader::new(&large)
        .read_line(&mut first)
        .expect("it answers");
    assert!(first.starts_with("HTTP/1.1 413"), "{first}");
    let (_, first) = server.raw(&format!(
        "GET /api/v1/cloud/agents HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n",
        "x".repeat(64 << 10)
    ));
    assert!(
        first.starts_with("HTTP/1.1 431") || first.starts_with("HTTP/1.1 400"),
        "{first}"
    );
    assert_eq!(client.post("", &json!("no object")).0, 400);
    let (_, first) = server.raw(&format!("POST /api/v1/cloud/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 1\r\n\r\n{{"));
    assert!(first.starts_with("HTTP/1.1 400"), "{first}");
    drop(slow);
}

/// SIGTERM ends the server after the requests under way, with success.
#[test]
fn the_server_ends_gracefully() {
    let mut server = Server::start();
    let kept = server.client();
    assert_eq!(kept.get("").0, 200);
    let pid = rustix::process::Pid::from_raw(i32::try_from(server.process.id()).expect("a pid"))
        .expect("not zero");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    assert!(server.ends().success());
}

// R159, R162, R168: the commands of the source, with only the host changed.
#[test]
fn the_curl_commands_of_the_source_work() {
    let Some(curl) = peers::find("curl") else {
        return;
    };
    let server = Server::start();
    let run = |args: &[&str]| {
        let output = Command::new(&curl)
            .args([
                "-sS",
                "--noproxy",
                "*",
                "-H",
                &format!("Authorization: Bearer {TOKEN}"),
            ])
            .args(args)
            .output()
            .expect("curl runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let url = format!("http://{}/api/v1/cloud/agents", server.addr);
    let body = r#"{
    "name": "dev-agent",
    "model": "ultimate",
    "instructions": "You are a development assistant",
    "tools": [
      {
        "type": "agent_toolset_20260401",
        "enabled_tools": ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch", "WebSearch"]
      }
    ]
  }"#;
    let json = "Content-Type: application/json";
    let made = run(&["-X", "POST", &url, "-H", json, "-d", body]);
    assert_eq!(made["version"], json!(1));
    let one = format!("{url}/{}", made["id"].as_str().expect("an id"));
    let eight = tools(&[
        "Bash",
        "Read",
        "Write",
        "Edit",
        "Glob",
        "Grep",
        "WebFetch",
        "WebSearch",
    ]);
    assert_eq!(run(&[&one])["tools"], eight);
    let body = r#"{
    "version": 1,
    "tools": [
      {
        "type": "agent_toolset_20260401",
        "enabled_tools": ["Bash", "Read", "Write", "Edit"]
      }
    ]
  }"#;
    let replaced = run(&["-X", "PUT", &one, "-H", json, "-d", body]);
    assert_eq!(
        (&replaced["version"], &replaced["tools"]),
        (&json!(2), &tools(&["Bash", "Read", "Write", "Edit"]))
    );
    let stale = run(&["-X", "PUT", &one, "-H", json, "-d", body]);
    assert_eq!(
        stale["error"]["message"],
        json!("Version conflict. Expected version 2, got 1.")
    );
}

#[test]
fn the_server_refuses_to_start_without_a_token_or_off_loopback() {
    let folder = tempfile::tempdir().expect("a folder");
    let serve = |args: &[&str], token: Option<&str>| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path());
        if let Some(token) = token {
            command.env("TOOLBOX_AGENT_TOKEN", token);
        }
        command.args(["agent", "serve"]).args(args).assert().code(2)
    };
    serve(&[], None).stderr(predicates::str::contains("no token"));
    serve(&[], Some("short")).stderr(predicates::str::contains("8 or more"));
    serve(&["--addr", "0.0.0.0:0"], Some(TOKEN))
        .stderr(predicates::str::contains("is not loopback"));
}
