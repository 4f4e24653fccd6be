//! What the server takes and what it refuses: heads, bodies, slow and broken clients, many at once, its end.

use super::*;

/// Sends bytes on a connection of their own, and reads until the server closes it.
fn exchange(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.addr).expect("it listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    // The server may close before it has taken all.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).expect("UTF-8")
}

/// The status and the body of the last answer in a stream.
fn last(answer: &str) -> (u16, Value) {
    let start = answer.rfind("HTTP/1.1 ").expect("an answer");
    let (head, body) = answer[start..].split_once("\r\n\r\n").expect("a head");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .expect("a length");
    assert_eq!(length.parse(), Ok(body.len()), "{answer}");
    let status = head[9..12].parse().expect("a status");
    (status, serde_json::from_str(body).expect(answer))
}

fn request(method: &str, path: &str, body: &str, more: &str) -> String {
    format!(
        "{method} /api/v1/cloud/agents{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

const CLOSE: &str = "Connection: close\r\n";

// D30: a head that is no HTTP has the same envelope as every other error, also behind a good request.
#[test]
fn a_broken_head_has_the_envelope_too() {
    let server = Server::start();
    let envelope = |message: &str| refused("invalid_request_error", message);
    let no_http = envelope("the head of the request is no HTTP/1.1");
    for broken in [
        "nonsense\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\r\nA\0: b\r\n\r\n".to_owned(),
        format!("{}GARBAGE\r\n\r\n", request("GET", "", "", "")),
    ] {
        let answer = exchange(&server, broken.as_bytes());
        assert_eq!(last(&answer), (400, no_http.clone()), "{broken:?}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(70_000));
    let (status, body) = last(&exchange(&server, long.as_bytes()));
    assert!(matches!(status, 414 | 431), "{status}");
    assert_eq!(body["error"]["type"], json!("invalid_request_error"));
    let contradiction = format!(
        "POST /api/v1/cloud/agents HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"
    );
    assert_eq!(
        last(&exchange(&server, contradiction.as_bytes())),
        (400, no_http)
    );
    assert_eq!(server.client().get("").0, 200);
}

// R159: a head of the limit is read, and one of a byte more refused.
#[test]
fn a_head_has_a_limit() {
    const LIMIT: usize = 16 << 10;
    let server = Server::start();
    let head = |bytes: usize| {
        let empty = request("GET", "", "", &format!("{CLOSE}X-Fill: \r\n"));
        let fill = "x".repeat(bytes - empty.len());
        request("GET", "", "", &format!("{CLOSE}X-Fill: {fill}\r\n"))
    };
    assert_eq!(head(LIMIT).len(), LIMIT);
    assert_eq!(last(&exchange(&server, head(LIMIT).as_bytes())).0, 200);
    let (status, body) = last(&exchange(&server, head(LIMIT + 1).as_bytes()));
    assert_eq!(
        (status, body),
        (
            431,
            refused(
                "invalid_request_error",
                "the head of the request is too large"
            )
        )
    );
}

// R139, R164: a key that stands twice could hide a right, so it is refused by its name and changes nothing.
#[test]
fn a_key_that_stands_twice_is_refused() {
    let server = Server::start();
    let client = server.client();
    let id = client.create(json!({ "tools": tools(&["Read"]) }));
    let set = r#"{"type":"agent_toolset_20260401","enabled_tools":["Read"]}"#;
    let wide = r#"{"type":"agent_toolset_20260401","enabled_tools":["Read"],"enabled_tools":[]}"#;
    for (method, path, body, key) in [
        (
            "POST",
            String::new(),
            format!(r#"{{"tools":[{set}],"tools":[]}}"#),
            "tools",
        ),
        (
            "POST",
            String::new(),
            format!(r#"{{"tools":[{wide}]}}"#),
            "enabled_tools",
        ),
        (
            "PUT",
            format!("/{id}"),
            format!(r#"{{"version":1,"version":2,"tools":[{set}]}}"#),
            "version",
        ),
        (
            "PUT",
            format!("/{id}"),
            format!(r#"{{"version":1,"tools":[{wide}]}}"#),
            "enabled_tools",
        ),
        (
            "POST",
            format!("/{id}/sessions"),
            r#"{"tools":[],"tools":[]}"#.to_owned(),
            "tools",
        ),
    ] {
        let (status, answer) = last(&exchange(
            &server,
            request(method, &path, &body, CLOSE).as_bytes(),
        ));
        let message = answer["error"]["message"].as_str().expect("a text");
        assert_eq!(
            (status, &answer["error"]["type"]),
            (400, &json!("invalid_request_error"))
        );
        assert!(
            message.contains(&format!("the key '{key}' is given twice")),
            "{message}"
        );
    }
    assert_eq!(client.get(&format!("/{id}")).1["version"], json!(1));
    assert_eq!(client.get("").1["data"].as_array().map(Vec::len), Some(1));
    // Twice the same name in different objects is nothing strange.
    let once = format!(r#"{{"version":1,"name":"version","tools":[{set}]}}"#);
    let (status, _) = last(&exchange(
        &server,
        request("PUT", &format!("/{id}"), &once, CLOSE).as_bytes(),
    ));
    assert_eq!(status, 200);
}

// R159: clients that send a byte now and then, or nothing, hold nobody up.
#[test]
fn slow_clients_hold_nobody_up() {
    let server = Server::start();
    let half = |text: String| {
        let mut stream = TcpStream::connect(&server.addr).expect("it listens");
        stream.write_all(text.as_bytes()).expect("it reads");
        stream
    };
    let whole = request("POST", "", r#"{"name":"slow"}"#, CLOSE);
    let slow: Vec<TcpStream> = (0..60)
        .map(|idx| half(whole[..whole.len() * idx / 60].to_owned()))
        .collect();
    let client = server.client();
    client.create(json!({ "name": "quick" }));
    // They are served as soon as they are done; nothing of theirs was taken before.
    assert_eq!(client.get("").1["data"].as_array().map(Vec::len), Some(1));
    for (idx, mut stream) in slow.into_iter().enumerate() {
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a timeout");
        stream
            .write_all(&whole.as_bytes()[whole.len() * idx / 60..])
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert_eq!(last(&answer).0, 200, "{idx}");
    }
    assert_eq!(client.get("").1["data"].as_array().map(Vec::len), Some(61));
}

// R164: replacements of many agents at once, each on a kept connection, all succeed and lose nothing.
#[test]
fn parallel_replacements_do_not_mix() {
    let server = Server::start();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let client = server.client();
            scope.spawn(move || {
                let id = client.create(json!({ "name": format!("{writer}/1") }));
                for version in 1..=12u64 {
                    let name = format!("{writer}/{}", version + 1);
                    let body = json!({ "version": version, "name": name });
                    let (status, agent) = client.put(&format!("/{id}"), &body);
                    assert_eq!((status, &agent["name"]), (200, &json!(name)), "{agent}");
                }
                for version in 1..=13u64 {
                    let agent = client.get(&format!("/{id}?version={version}")).1;
                    assert_eq!(agent["name"], json!(format!("{writer}/{version}")));
                }
            });
        }
    });
    assert_eq!(
        server.client().get("").1["data"].as_array().map(Vec::len),
        Some(8)
    );
}

// R159: on SIGTERM a request under way gets its answer, and new ones are not taken.
#[test]
fn a_request_under_way_is_answered_at_the_end() {
    let mut server = Server::start();
    let whole = request("POST", "", r#"{"name":"last"}"#, "");
    let (first, rest) = whole.split_at(whole.len() - 4);
    let mut stream = TcpStream::connect(&server.addr).expect("it listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    stream.write_all(first.as_bytes()).expect("it reads");
    // An answer to another client tells that the server has gone round since.
    assert_eq!(server.client().get("").0, 200);
    assert_eq!(server.client().get("").0, 200);
    let pid = rustix::process::Pid::from_raw(i32::try_from(server.process.id()).expect("a pid"))
        .expect("not zero");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(&server.addr).is_ok() {
        assert!(std::time::Instant::now() < deadline, "it still listens");
        std::thread::yield_now();
    }
    stream.write_all(rest.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert_eq!(last(&answer).0, 200, "{answer}");
    assert!(server.ends().success());
}

// R159: the token comes from a file or the environment; the file goes first, and only its first line counts.
#[test]
fn the_token_comes_from_a_file_or_the_environment() {
    let folder = || tempfile::tempdir().expect("a folder");
    let status = |server: &Server, token: &str| {
        let text = format!(
            "GET /api/v1/cloud/agents HTTP/1.1\r\nHost: x\r\n{CLOSE}Authorization: Bearer {token}\r\n\r\n"
        );
        last(&exchange(server, text.as_bytes())).0
    };
    let server = Server::launch(folder(), |command| {
        command.env("TOOLBOX_AGENT_TOKEN", "from_the_environment");
    });
    assert_eq!(status(&server, "from_the_environment"), 200);
    assert_eq!(status(&server, TOKEN), 401);
    let place = folder();
    let file = place.path().join("token");
    fs::write(&file, "from_the_file\nnot_this_line\n").expect("a file");
    let server = Server::launch(place, |command| {
        command
            .env("TOOLBOX_AGENT_TOKEN", "from_the_environment")
            .arg("--token-file")
            .arg(&file);
    });
    assert_eq!(status(&server, "from_the_file"), 200);
    assert_eq!(status(&server, "from_the_environment"), 401);
    assert_eq!(status(&server, "not_this_line"), 401);
    // The scheme may be written in any way, the token only as it is.
    assert_eq!(status(&server, "FROM_THE_FILE"), 401);
}
