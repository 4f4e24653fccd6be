//! Settings of a server that somebody changes by hand, where the server takes note of that late or never.

use serde_json::{Value, json};

use crate::after_write::{Writing, patient};
use crate::support::lsp::Project;
use crate::support::peers;

const SOURCE: &str = "#ifdef BROKEN\nint x = \"one\" + 1.5;\n#endif\nint y;\n";

fn project(files: &[(&str, &str)]) -> Option<Project> {
    peers::find("clangd")?;
    Some(Project::new(files))
}

fn state(project: &Project, file: &str) -> Value {
    let args = json!({"action": "diagnostics", "file": file});
    project.call(args).expect("an answer").data["state"].clone()
}

fn pids(project: &Project) -> Vec<Value> {
    let status = project
        .call(json!({"action": "status"}))
        .expect("an answer");
    let servers = status.data["servers"].as_array().cloned();
    (servers.into_iter().flatten())
        .filter(|server| server["id"] == "clangd")
        .map(|server| server["pid"].clone())
        .collect()
}

// R17, D2: an answer is about the flags as they are now, at the first question, beside the source too.
#[test]
fn clangd_answers_with_the_flags_of_now() {
    let database = |flag: &str, project: &Project| {
        let file = project.path("lib/a.c");
        json!([{"directory": project.path("lib"), "file": file, "command": format!("cc {flag} -c a.c")}])
            .to_string()
    };
    for setting in [
        "compile_flags.txt",
        ".clangd",
        "lib/.clangd",
        "compile_commands.json",
    ] {
        let (marker, text) = match setting {
            "compile_commands.json" => (setting, "[]"),
            _ => ("compile_flags.txt", "-Wall\n"),
        };
        let Some(project) = project(&[(marker, text), ("lib/a.c", SOURCE)]) else {
            return;
        };
        let set = |broken: bool| {
            let flag = if broken { "-DBROKEN" } else { "-DFINE" };
            let text = match setting {
                "compile_flags.txt" => format!("{flag}\n"),
                "compile_commands.json" => database(flag, &project),
                _ => format!("CompileFlags:\n  Add: [{flag}]\n"),
            };
            project.write(setting, &text);
        };
        set(false);
        assert_eq!(state(&project, "lib/a.c"), "clean", "{setting}");
        let before = pids(&project);
        assert_eq!(before.len(), 1, "{setting}: {before:?}");
        assert_eq!(state(&project, "lib/a.c"), "clean", "{setting}");
        assert_eq!(pids(&project), before, "{setting}: nothing changed");
        for broken in [true, false] {
            set(broken);
            let expected = if broken { "found" } else { "clean" };
            assert_eq!(state(&project, "lib/a.c"), expected, "{setting} {broken}");
            assert_ne!(pids(&project), before, "{setting}");
        }
        // One that is gone counts too.
        set(true);
        assert_eq!(state(&project, "lib/a.c"), "found", "{setting}");
        if setting != marker {
            std::fs::remove_file(project.path(setting)).expect("it is there");
            assert_eq!(state(&project, "lib/a.c"), "clean", "{setting}");
        }
        project.ends_without_a_trace();
    }
}

// R17: one that is there for the first time, in a folder that the server has not been asked about before.
#[test]
fn clangd_hears_of_settings_beside_what_is_open() {
    let Some(project) = project(&[("compile_flags.txt", ""), ("lib/a.c", SOURCE)]) else {
        return;
    };
    let symbols = project.call(json!({"action": "symbols", "file": "lib/a.c"}));
    assert!(symbols.expect("an answer").text.contains("y"));
    project.write("lib/.clangd", "CompileFlags:\n  Add: [-DBROKEN]\n");
    assert_eq!(state(&project, "lib/a.c"), "found");
}

// R32, D6: what a write breaks is told by the flags of now, and what they broke before it is not the write's.
#[test]
fn a_write_is_judged_by_the_flags_of_now() {
    let Some(project) = project(&[("compile_flags.txt", "-DFINE\n"), ("a.c", SOURCE)]) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    assert_eq!(writing.write("a.c", &format!("{SOURCE}int z;\n")), "");
    project.write(".clangd", "CompileFlags:\n  Add: [-DBROKEN]\n");
    assert_eq!(writing.write("a.c", &format!("{SOURCE}int w;\n")), "");
    let broken = writing.write(
        "a.c",
        &format!("{SOURCE}#ifdef BROKEN\nint v = \"two\" + 2.5;\n#endif\n"),
    );
    assert!(broken.contains("a.c:6:"), "{broken}");
    assert!(!broken.contains("a.c:2:"), "{broken}");
}
