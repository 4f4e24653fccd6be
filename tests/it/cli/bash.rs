//! `toolbox bash`.

use super::*;

// R142: the output goes where a pipe takes it, what is said about it beside it, the code is the command's.
#[test]
fn bash_ends_as_its_command_does() {
    let checkout = Checkout::new(&[("sub/a", "")]);
    let run = |args: &[&str]| {
        let mut command = checkout.toolbox(args);
        command.env("PATH", "/usr/bin:/bin").assert()
    };
    run(&["bash", "printf hi; exit 7"])
        .code(7)
        .stdout("hi")
        .stderr(is_empty());
    run(&["bash", "cd sub; echo $HOME; false || true"])
        .code(0)
        .stdout(format!("{}\n", checkout.home().display()))
        .stderr("note: working folder: sub\n");
    run(&["bash", "kill -9 $$"]).code(137);
    run(&["bash", "sleep 600", "--timeout", "1"])
        .code(124)
        .stderr(contains("timed out"));
    run(&["bash", "true", "--timeout", "601"])
        .code(3)
        .stderr(contains("1 to 600 s"));
    run(&["bash", "--background-id", "bash_9"])
        .code(3)
        .stderr(contains("no background command 'bash_9'"));
    // The question started a background session, which would outlive the test.
    run(&["session", "stop"]).code(0);
    run(&["bash"]).code(2);
    let assert = run(&["bash", "echo x; exit 2", "--json"]).code(2);
    let data: Value = serde_json::from_slice(&assert.get_output().stdout).expect("JSON");
    assert_eq!(
        (&data["output"], &data["exit_code"]),
        (&json!("x\n"), &json!(2))
    );
}
