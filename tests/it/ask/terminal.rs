//! Cards at a real pseudo-terminal, with `toolbox ask-user`.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::terminal::Terminal;

/// The command in a home of its own.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command
            .env("HOME", self.0.path())
            .env("TERM", "dumb")
            .current_dir(self.0.path())
            .args(["ask-user", "--question", "Which one?"])
            .args(args);
        command
    }

    fn at_terminal(&self, args: &[&str]) -> Terminal {
        Terminal::start(&self.command(args))
    }
}

const TWO: [&str; 4] = ["--option", "red=like a rose", "--option", "blue"];

// R116, R121: a numbered card, answered by its number, and readable without colour.
#[test]
fn a_numbered_card_is_answered_at_the_terminal() {
    let desk = Desk::new();
    let mut terminal = desk.at_terminal(&TWO);
    terminal.sees("Question: Which one?\n  1. red: like a rose\n  2. blue\n");
    terminal.sees("Type a number from 1 to 2. Enter = skip.\n> ");
    terminal.types("2\n");
    terminal.sees("Answered:\n2. blue\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(0));
    assert!(!screen.contains('\x1b'), "{screen:?}");
}

// A wrong answer is asked again, with the reason.
#[test]
fn a_wrong_answer_is_asked_again() {
    let desk = Desk::new();
    let mut terminal = desk.at_terminal(&[&TWO[..], &["--multi-select", "--json"]].concat());
    terminal.sees("> ");
    terminal.types("3\n");
    terminal.sees("3 is out of range: the options are 1 to 2. Type numbers from 1 to 2");
    terminal.sees("> ");
    terminal.types("1-2\n");
    terminal.sees("\"choices\": [");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(0));
    let at = screen.find('{').expect("JSON");
    let data: Value = serde_json::from_str(&screen[at..]).expect("one JSON object");
    assert_eq!(
        data,
        json!({"outcome": "answered", "choices": [1, 2], "labels": ["red", "blue"], "text": null})
    );
}

// R124: Enter skips, which is a success; Ctrl-D is no other answer than Enter.
#[test]
fn enter_skips_a_question() {
    for key in ["\n", "\x04"] {
        let desk = Desk::new();
        let mut terminal = desk.at_terminal(&TWO);
        terminal.sees("> ");
        terminal.types(key);
        terminal.sees("(skipped)\n");
        terminal.sees("The person skipped the question. Proceed on an assumption that you state");
        assert_eq!(terminal.ends().0, Some(0));
    }
}

// Ctrl-C is an interrupt, not a skip.
#[test]
fn an_interrupt_cancels_the_call() {
    let desk = Desk::new();
    let mut terminal = desk.at_terminal(&TWO);
    terminal.sees("> ");
    terminal.types("1\x03");
    terminal.sees("(cancelled)\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(3), "{screen}");
    assert!(screen.contains("error: the call was cancelled"), "{screen}");
}

// R125: the end of the time is an error.
#[test]
fn a_question_times_out_at_the_terminal() {
    let desk = Desk::new();
    let mut terminal = desk.at_terminal(&[&TWO[..], &["--timeout", "0.05"]].concat());
    terminal.sees("(nobody answered in time)\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(3));
    assert!(
        screen.contains("error: nobody answered the question within 0.05 s"),
        "{screen}"
    );
    assert!(
        screen.contains("hint: Proceed on an assumption"),
        "{screen}"
    );
}

// D26: how long a question waits is the host's setting.
#[test]
fn the_configuration_says_how_long_a_question_waits() {
    let desk = Desk::new();
    let folder = desk.0.path().join(".config/toolbox");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("toolbox.toml"), "ask.timeout_s = 0.05\n").expect("a file");
    let mut terminal = desk.at_terminal(&TWO);
    terminal.sees("(nobody answered in time)\n");
    assert_eq!(terminal.ends().0, Some(3));
}

// What was typed before the card was there does not answer it.
#[test]
fn what_was_typed_ahead_answers_nothing() {
    let desk = Desk::new();
    let mut shell = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_toolbox");
    // The shell waits on a pipe, so that what is typed stays in the terminal.
    let script = format!(
        "mkfifo gate; echo ready; read opened < gate; \
         {binary} ask-user --question Q --option a --option b"
    );
    shell
        .env("HOME", desk.0.path())
        .env("PATH", std::env::var("PATH").expect("it is set"))
        .current_dir(desk.0.path())
        .args(["-c", &script]);
    let mut terminal = Terminal::start(&shell);
    terminal.sees("ready\n");
    terminal.types("1\n");
    // The terminal echoes a line once it holds it.
    terminal.sees("1\n");
    std::fs::write(desk.0.path().join("gate"), "\n").expect("the shell reads it");
    terminal.sees("Enter = skip.\n> ");
    terminal.types("2\n");
    terminal.sees("Answered:\n2. b\n");
    assert_eq!(terminal.ends().0, Some(0));
}

// R122: a text is what was typed; its control characters are gone.
#[test]
fn a_text_is_typed_at_the_terminal() {
    let desk = Desk::new();
    let mut terminal = desk.at_terminal(&["--allow-free-text", "--json"]);
    terminal.sees("Type your answer. Enter = skip.\n> ");
    terminal.types("gr\u{fc}n, max_results\n");
    terminal.sees("\"text\": \"gr\u{fc}n, max_results\"");
    assert_eq!(terminal.ends().0, Some(0));
}

// R128: with nobody there the call fails at once, for a question in a pipe too.
#[test]
fn without_a_terminal_nobody_is_there() {
    let desk = Desk::new();
    // A session of its own has no controlling terminal.
    let inner = desk.command(&TWO);
    let mut command = Command::new("setsid");
    command
        .arg("--wait")
        .arg(inner.get_program())
        .args(inner.get_args())
        .env("HOME", desk.0.path())
        .current_dir(desk.0.path())
        .stdin(Stdio::piped());
    let output = command.output().expect("setsid of util-linux");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("error: nobody is there who could answer the question"),
        "{said}"
    );
    assert!(output.stdout.is_empty());
}

// D26, in the words of the command line.
#[test]
fn a_question_without_a_way_to_answer_is_refused() {
    let desk = Desk::new();
    let output = desk.command(&[]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("add `--option LABEL`"), "{said}");
    let output = desk.command(&["--timeout", "0"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}
