//! The line that tells a person at a terminal that a command works.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use rustix::process::{Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::background::{Background, SEARCH};

/// A pseudo-terminal: what a person sees, and what a command writes to.
fn terminal() -> (File, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let screen = openpt(flags).expect("a terminal");
    grantpt(&screen).expect("ours");
    unlockpt(&screen).expect("ours");
    let name = ptsname(&screen, Vec::new()).expect("a name");
    let name = name.to_str().expect("ASCII");
    let line = File::options().read(true).write(true).open(name);
    (File::from(screen), line.expect("it is there"))
}

// Point 7 of the issue: after a second a line on a terminal, erased at the end; never with --quiet, and not
// where standard error is no terminal.
#[test]
fn a_long_call_shows_a_line_and_erases_it() {
    let background = Background::new();
    background.search();
    let pid = background.pid();
    // Nothing is answered until it goes on.
    kill_process(pid, Signal::STOP).expect("it lives");
    // The command goes with the closure: it would keep the terminal open.
    let call = |args: &[&str], stderr: Stdio| {
        let mut command = background
            .0
            .toolbox(&["call", "ast_grep", SEARCH, "--background"]);
        command.args(args).stdout(Stdio::piped()).stderr(stderr);
        command.spawn().expect("it starts")
    };
    let (mut quiet_screen, quiet_line) = terminal();
    let mut quiet = call(&["-q"], quiet_line.into());
    let piped = call(&[], Stdio::piped());
    let (mut screen, line) = terminal();
    let mut shown = call(&[], line.into());
    let mut seen = String::new();
    let mut buffer = [0; 256];
    while !seen.contains("searching … 2 s") {
        let n_bytes = screen.read(&mut buffer).expect("it is open");
        seen.push_str(&String::from_utf8_lossy(&buffer[..n_bytes]));
    }
    assert!(!seen.contains(" 0 s"), "not before a second: {seen:?}");
    kill_process(pid, Signal::CONT).expect("it lives");
    let rest = |screen: &mut File| {
        let mut rest = Vec::new();
        // Reading ends with an error when nobody has the terminal open any more.
        let _ = screen.read_to_end(&mut rest);
        String::from_utf8_lossy(&rest).into_owned()
    };
    seen.push_str(&rest(&mut screen));
    assert!(seen.ends_with("\r\x1b[K"), "{seen:?}");
    assert_eq!(rest(&mut quiet_screen), "");
    let piped = piped.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&piped.stderr), "");
    assert!(String::from_utf8_lossy(&piped.stdout).starts_with("a.js\n"));
    for child in [&mut shown, &mut quiet] {
        assert!(child.wait().expect("it ends").success());
    }
}
