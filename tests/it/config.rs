//! `toolbox.toml`: whose settings win, what a checkout may set, and errors that name the place.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A checkout beside a home.
struct Place {
    temp: tempfile::TempDir,
}

impl Place {
    fn new(user: &str, project: &str) -> Self {
        let place = Self {
            temp: tempfile::tempdir().expect("a folder"),
        };
        fs::create_dir_all(place.root().join(".git")).expect("a folder");
        place.write("home/.config/toolbox/toolbox.toml", user);
        place.write("checkout/toolbox.toml", project);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp
            .path()
            .canonicalize()
            .expect("it exists")
            .join(name)
    }

    fn root(&self) -> PathBuf {
        self.path("checkout")
    }

    /// Writes a file; an empty text leaves it out.
    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        if !text.is_empty() {
            fs::write(path, text).expect("a file");
        }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command.env_clear().env("HOME", self.path("home"));
        command.current_dir(self.root()).args(args);
        command.output().expect("it runs")
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[&["config", "--json"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    }

    /// The value of a key, and the kind of its origin.
    fn value(&self, args: &[&str], key: &str) -> Option<(Value, String)> {
        let data = self.json(args);
        let rows = data["values"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["key"] == key)?;
        let kind = row["origin"]["kind"].as_str().expect("a kind");
        Some((row["value"].clone(), kind.to_owned()))
    }

    fn said(&self, args: &[&str], code: i32) -> String {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    }
}

fn from(value: Value, origin: &str) -> Option<(Value, String)> {
    Some((value, origin.to_owned()))
}

// Later wins: default, user, trusted project, flag.
#[test]
fn each_layer_wins_over_the_one_before_it() {
    let place = Place::new("", "");
    assert_eq!(
        place.value(&[], "approval.auto"),
        from(json!("read"), "default")
    );
    assert_eq!(place.value(&[], "eval.python"), None);
    let user = "approval.auto = \"write\"\neval.python = \"py-user\"\nenclosure = [\"a\"]\n";
    let project = "[eval]\npython = \"py-project\"\n";
    let place = Place::new(user, project);
    assert_eq!(
        place.value(&[], "approval.auto"),
        from(json!("write"), "user")
    );
    assert_eq!(
        place.value(&[], "eval.python"),
        from(json!("py-user"), "user")
    );
    let trust = &["--trust-project"];
    assert_eq!(
        place.value(trust, "eval.python"),
        from(json!("py-project"), "project")
    );
    assert_eq!(place.value(trust, "enclosure"), from(json!(["a"]), "user"));
    let flag = &["--enclosure", "docker exec -i 'my box'"];
    let words = json!(["docker", "exec", "-i", "my box"]);
    assert_eq!(place.value(flag, "enclosure"), from(words, "flag"));
    assert!(
        place
            .said(&["config", "--enclosure", "a; b"], 2)
            .contains("plain words")
    );
}

// The effective value of a key is shown also where nobody set it; a slip in the name of a tool is pointed at.
#[test]
fn the_text_says_what_holds_and_what_names_nothing() {
    let place = Place::new(
        "approval.tools = { bash = \"deny\", Bush = \"deny\" }\n",
        "",
    );
    let output = place.run(&["config"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in [
        "eval.budget_s = 300  # default",
        "session.idle_s = 1800  # default",
        "lsp.max_servers = 8  # default",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
    let not_set = text.lines().find(|line| line.starts_with("# not set: "));
    let not_set = not_set.expect("a line");
    assert!(not_set.contains("ask.timeout_s"), "{not_set}");
    assert!(!not_set.contains("approval.auto"), "{not_set}");
    assert!(
        text.contains("no tool of this build is called `Bush`"),
        "{text}"
    );
    assert!(!text.contains("called `Bash`"), "{text}");
}

#[test]
fn the_text_names_files_and_lines() {
    let place = Place::new("# mine\n\nask.timeout_s = 2.5\n", "eval.python = \"x\"\n");
    let output = place.run(&["config"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let user = place.path("home/.config/toolbox/toolbox.toml");
    let project = place.path("checkout/toolbox.toml");
    for line in [
        format!("# user file: {}", user.display()),
        format!(
            "# project file: {} (not trusted: only what is harmless is taken)",
            project.display()
        ),
        "approval.auto = \"read\"  # default".to_owned(),
        format!("ask.timeout_s = 2.5  # {}:3", user.display()),
        "approval.rules = []  # default".to_owned(),
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line}\nin\n{text}"
        );
    }
    assert!(
        text.contains(":1: `eval.python` is ignored: the checkout is not trusted"),
        "{text}"
    );
}

// The two variables, and the flag that takes their place.
#[test]
fn the_users_file_is_found_where_it_belongs() {
    let place = Place::new("lsp.max_servers = 1", "");
    place.write("xdg/toolbox/toolbox.toml", "lsp.max_servers = 2");
    place.write("other.toml", "lsp.max_servers = 3");
    let with = |xdg: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command.env_clear().env("HOME", place.path("home"));
        command
            .env("XDG_CONFIG_HOME", xdg)
            .current_dir(place.root());
        let output = command.args(["config", "--json"]).args(args).output();
        let data: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("JSON");
        let rows = data["values"].as_array().expect("a list").clone();
        let row = rows.iter().find(|row| row["key"] == "lsp.max_servers");
        row.expect("it is set")["value"].clone()
    };
    let xdg = place.path("xdg").display().to_string();
    assert_eq!(with(&xdg, &[]), 2);
    assert_eq!(with("", &[]), 1);
    assert_eq!(with("relative", &[]), 1, "a relative folder is none");
    assert_eq!(with(&xdg, &["--config", "../other.toml"]), 3);
    let said = place.said(&["config", "--config", "nothing.toml"], 2);
    assert!(
        said.contains("nothing.toml': there is no such file"),
        "{said}"
    );
}

// A wrong file is an error with the place, the key and what is expected.
#[test]
fn a_wrong_key_is_an_error_that_names_the_place() {
    for (text, place, words) in [
        (
            "[approval]\nauto = \"admin\"\n",
            "2:8",
            "`approval.auto` must be \"read\", \"write\" or \"exec\", not \"admin\"",
        ),
        (
            "\n[aproval]\nauto = \"read\"\n",
            "2:2",
            "unknown key `aproval`; the keys at the top are approval, ",
        ),
        (
            "[eval]\npyton = \"x\"\n",
            "2:1",
            "unknown key `eval.pyton`; the keys under `eval` are budget_s, node, python",
        ),
        ("# \u{e9}\nx.y = 1\n", "2:1", "unknown key `x`"),
        ("ask = 3\n", "1:7", "`ask` must be a table, not 3"),
        (
            "ask.timeout_s = 0\n",
            "1:17",
            "a number of seconds above zero, up to 1000000000, not 0",
        ),
        (
            "ask.timeout_s = nan\n",
            "1:17",
            "the number nan cannot be used",
        ),
        (
            "ask.timeout_s = 1000000001\n",
            "1:17",
            "a number of seconds above zero",
        ),
        (
            "lsp.max_servers = 99999999999999999999\n",
            "1:19",
            "cannot be used",
        ),
        (
            "lsp.disabled = [1]\n",
            "1:16",
            "`lsp.disabled` must be a list of strings, not such a list",
        ),
        (
            "trusted = [\"relative\"]\n",
            "1:11",
            "a list of absolute paths",
        ),
        (
            "enclosure = []\n",
            "1:13",
            "a program and its arguments, not an empty list",
        ),
        (
            "web.search.searxng = \"ftp://x\"\n",
            "1:22",
            "an http:// or https:// address",
        ),
        (
            "lsp.server.x.env = {A = 1}\n",
            "1:20",
            "`lsp.server.x.env` must be a table of strings",
        ),
        (
            "lsp.server.x.comand = \"y\"\n",
            "1:14",
            "the keys under `lsp.server.x` are args, command",
        ),
        (
            "vibe.slow.command = [\"x\"]\n",
            "1:6",
            "the keys under `vibe` are fast, good",
        ),
        ("ask.timeout_s = \n", "1:17", ""),
        (
            "ask.timeout_s = 1\nask.timeout_s = 2\n",
            "2:5",
            "duplicate key",
        ),
        (
            "approval.rules = [{tool=\"Bash\", decision=\"allow\"}]\n",
            "1:19",
            "the rule needs one of `command` and `path`",
        ),
        (
            "approval.rules = [{tool=\"Bash\", command=\"a; b\", decision=\"allow\"}]\n",
            "1:19",
            "must be plain words",
        ),
        (
            "approval.rules = [{tool=\"Write\", path=\"a[\", decision=\"allow\"}]\n",
            "1:19",
            "is no glob",
        ),
        (
            "approval.rules = [{tool=\"Write\", command=\"a\", decision=\"allow\"}]\n",
            "1:19",
            "the rule is about a command of Write, where none is known: Bash has one",
        ),
        (
            "approval.rules = [{tool=\"Bash\", command=\"a\"}]\n",
            "1:19",
            "lacks the key `decision`",
        ),
        (
            "approval.rules = [{tool=\"Bash\", comand=\"a\", decision=\"ask\"}]\n",
            "1:33",
            "unknown key `comand` of a rule; the keys are tool, command, path, argument, decision",
        ),
        ("approval.rules = 1\n", "1:18", "must be a list of tables"),
        (
            "[debug.adapter.x]\ntransport = \"pipe\"\n",
            "2:13",
            "`debug.adapter.x.transport` must be \"stdio\", or a flag such as \"--client-addr=\"",
        ),
        (
            "\nread.lines = 0\n",
            "2:14",
            "`read.lines` must be a whole number above zero, not 0",
        ),
        (
            "[bash]\nenv = { A = 1 }\n",
            "2:7",
            "`bash.env` must be a table of strings",
        ),
    ] {
        let config = Place::new(text, "");
        let said = config.said(&["config"], 2);
        let file = config.path("home/.config/toolbox/toolbox.toml");
        let start = format!("error: {}:{place}: ", file.display());
        assert!(said.starts_with(&start), "{text}\n{said}\n{start}");
        assert!(said.contains(words), "{text}\n{said}");
    }
}

// The checkout's own file is held to the same, trusted or not; every command says so.
#[test]
fn a_wrong_project_file_is_an_error_too() {
    let place = Place::new("", "nothing = 1\n");
    let said = place.said(&["tools"], 2);
    assert!(
        said.contains("checkout/toolbox.toml:1:1: unknown key `nothing`"),
        "{said}"
    );
    assert!(
        said.contains("hint: `toolbox config --help` lists every key"),
        "{said}"
    );
}

// A checkout's own file can never name a command to run unless the user trusted that root.
#[test]
fn an_untrusted_checkout_names_no_command() {
    let project = "
enclosure = [\"evil\"]
eval.python = \"evil\"
eval.node = \"evil\"
artifacts.dir = \"/etc\"
web.allow_private = [\"169.254.169.254\"]
web.search.searxng = \"http://evil\"
[lsp.server.rust-analyzer]
command = \"evil\"
settings = { check = { overrideCommand = [\"evil\"] } }
init_options = { x = 1 }
env = { PATH = \"evil\" }
[debug.adapter.x]
command = \"evil\"
transport = \"--evil\"
launch = { x = \"evil\" }
[vibe.fast]
command = [\"evil\"]
[bash]
shell = \"evil\"
timeout_s = 1000001
max_timeout_s = 1000001
env = { PATH = \"evil\" }
[read]
lines = 1000001
line_length = 1000001
[lsp.write]
settle_s = 1000001
[lsp.checkers]
enabled = true
time_s = 1000001
[debug]
stop_wait_s = 1000001
";
    let harmless = "[lsp]\nmax_servers = 2\ndisabled = [\"gopls\"]\n[ask]\ntimeout_s = 9\n";
    let place = Place::new("", &format!("{project}{harmless}"));
    let data = place.json(&[]);
    let text = data["values"].to_string();
    for word in ["evil", "/etc", "100000"] {
        assert!(!text.contains(word), "{text}");
    }
    assert_eq!(data["ignored"].as_array().expect("a list").len(), 24);
    assert_eq!(
        place.value(&[], "lsp.max_servers"),
        from(json!(2), "project")
    );
    assert_eq!(
        place.value(&[], "lsp.disabled"),
        from(json!(["gopls"]), "project")
    );
    let strict = Place::new("", "lsp.checkers.enabled = false\n");
    assert_eq!(
        strict.value(&[], "lsp.checkers.enabled"),
        from(json!(false), "project")
    );
    let quiet = place.said(&["tools"], 0);
    assert!(!quiet.contains("ignored"), "{quiet}");
    let loud = place.said(&["tools", "-v"], 0);
    assert!(
        loud.contains("toolbox.toml:3: `eval.python` is ignored: the checkout is not trusted"),
        "{loud}"
    );
    let trusted = place.json(&["--trust-project"]);
    assert_eq!(trusted["ignored"], json!([]));
    assert!(trusted["values"].to_string().contains("evil"));
}

// The list of trusted roots is about canonical folders, and about these alone.
#[test]
fn a_listed_root_is_trusted_and_no_other() {
    let project = "eval.python = \"mine\"\ntrusted = [\"/\"]\n";
    let listed = |roots: &[PathBuf]| format!("trusted = {}\n", json!(roots));
    let place = Place::new("", project);
    let link = place.path("link");
    std::os::unix::fs::symlink(place.root(), &link).expect("a link");
    let user = "home/.config/toolbox/toolbox.toml";
    for (roots, trusted) in [
        (vec![place.root()], true),
        (vec![place.path("nothing"), link], true),
        (vec![place.path("")], false),
        (vec![place.root().join(".git")], false),
        (vec![], false),
    ] {
        place.write(user, &listed(&roots));
        let expected = trusted.then(|| (json!("mine"), "project".to_owned()));
        assert_eq!(place.value(&[], "eval.python"), expected, "{roots:?}");
        // Who is trusted still does not say who is trusted.
        let (value, origin) = place.value(&[], "trusted").expect("it is set");
        assert_eq!((value, origin), (json!(roots), "user".to_owned()));
    }
}

// D37: an untrusted checkout can make approvals stricter, never looser.
#[test]
fn an_untrusted_checkout_only_tightens_approvals() {
    let project = |auto: &str, bash: &str| {
        format!("[approval]\nauto = \"{auto}\"\ntools = {{ Bash = \"{bash}\" }}\n")
    };
    for (user_auto, user_bash, auto, bash, expected_auto, expected_bash) in [
        ("read", "ask", "exec", "allow", "read", "ask"),
        ("write", "ask", "read", "deny", "read", "deny"),
        ("exec", "deny", "write", "ask", "write", "deny"),
        ("write", "allow", "write", "ask", "write", "ask"),
    ] {
        let place = Place::new(&project(user_auto, user_bash), &project(auto, bash));
        let now = |key: &str| place.value(&[], key).expect("it is set").0;
        assert_eq!(now("approval.auto"), expected_auto);
        assert_eq!(now("approval.tools.Bash"), expected_bash);
    }
    let place = Place::new("", &project("read", "allow"));
    assert_eq!(place.value(&[], "approval.tools.Bash"), None);
    let place = Place::new("", &project("read", "ask"));
    assert_eq!(
        place.value(&[], "approval.tools.Bash"),
        from(json!("ask"), "project")
    );
}

// Rules add up: no file takes back what another denies.
#[test]
fn rules_of_all_files_hold_together() {
    let rule = |command: &str, decision: &str| {
        format!(
            "[[approval.rules]]\ntool = \"bash\"\ncommand = \"{command}\"\ndecision = \"{decision}\"\n"
        )
    };
    let user = rule("git push", "deny");
    let project = rule("git", "allow") + &rule("rm", "deny") + &rule("mv", "ask");
    let place = Place::new(&user, &project);
    let commands = |args: &[&str]| -> Vec<String> {
        let data = place.json(args);
        let rows = data["values"].as_array().expect("a list").iter();
        rows.filter(|row| row["key"] == "approval.rules")
            .map(|row| {
                assert_eq!(row["value"]["tool"], "Bash", "the canonical name (D33)");
                row["value"]["command"].as_str().expect("a text").to_owned()
            })
            .collect()
    };
    assert_eq!(commands(&[]), ["git push", "rm", "mv"]);
    assert_eq!(
        commands(&["--trust-project"]),
        ["git push", "git", "rm", "mv"]
    );
}

// A pipe, a folder or a huge file in a checkout holds nothing up.
#[test]
fn what_is_no_plain_file_is_an_error() {
    let place = Place::new("", "");
    let file = place.root().join("toolbox.toml");
    fs::create_dir(&file).expect("a folder");
    assert!(place.said(&["tools"], 2).contains("it is no regular file"));
    fs::remove_dir(&file).expect("it is empty");
    let made = Command::new("mkfifo").arg(&file).status().expect("mkfifo");
    assert!(made.success());
    assert!(place.said(&["tools"], 2).contains("it is no regular file"));
    fs::remove_file(&file).expect("ours");
    fs::write(&file, "#".repeat((1 << 20) + 1)).expect("a file");
    assert!(
        place
            .said(&["tools"], 2)
            .contains("it is over 1048576 bytes")
    );
    fs::write(&file, "#".repeat(1 << 20)).expect("a file");
    place.said(&["tools"], 0);
    fs::write(&file, b"a = \"\xff\"").expect("a file");
    assert!(place.said(&["tools"], 2).contains("it is not UTF-8"));
    fs::write(&file, "[".repeat(100_000)).expect("a file");
    place.said(&["tools"], 2);
}

// What a checkout writes does not steer the terminal of whoever looks at it.
#[test]
fn values_are_shown_without_control_characters() {
    let project = "lsp.disabled = [\"a\\u001B[2J\\u202Eb\\nc\"]\n[lsp.server.\"x\\u001B y\"]\ncommand=\"z\"\n";
    let place = Place::new("", project);
    let output = place.run(&["config"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains(r#"lsp.disabled = ["a\U0000001b[2J\U0000202eb\nc"]"#),
        "{text}"
    );
    assert!(
        text.contains(r#"`lsp.server."x\U0000001b y".command` is ignored"#),
        "{text}"
    );
    assert!(!text.contains('\x1b'));
}

#[test]
fn every_key_is_in_the_help() {
    let place = Place::new("", "");
    let output = place.run(&["config", "--help"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for key in [
        "approval.auto",
        "approval.rules",
        "lsp.server.NAME.command",
        "vibe.good.result",
        "artifacts.dir",
    ] {
        assert!(text.contains(&format!("  {key} = ")), "{key}\n{text}");
    }
}
