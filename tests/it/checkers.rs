//! The project checkers, run for real (R18, D3).

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;
use toolbox::cancel::Cancel;
use toolbox::child::{Processes, Watch};
use toolbox::lsp::checkers::{CheckReport, Checkers, Outcome};
use toolbox::lsp::diagnostics::{DiagnosticState, Severity};
use toolbox::run::{CallOptions, Run};
use toolbox::tool::ErrorKind;
use toolbox::tools::{LspResources, Resources, connect};

use crate::support::lsp::{Project, environment};
use crate::support::peers;

fn checkers(project: &Project) -> Checkers {
    let home = project.work().with_file_name("home");
    Checkers::new(Processes::new(Watch::Shell), environment(&home))
}

/// What a check finds, a line for each, with the checkers that ran.
fn found(files: &[(&str, &str)]) -> (DiagnosticState, Vec<String>, Vec<String>) {
    let project = Project::new(files);
    let report = checkers(&project)
        .check(project.supervisor.workspace(), &Cancel::new())
        .expect("it is not vetoed");
    let lines = report.diagnostics.iter().map(|diagnostic| {
        let code = diagnostic.code.as_deref().unwrap_or("-");
        let severity = diagnostic.severity;
        format!(
            "{}:{}:{} {severity} {code}",
            diagnostic.file, diagnostic.line, diagnostic.column
        )
    });
    let checks = report.checks.iter().map(|check| {
        assert_eq!(check.outcome, Outcome::Done, "{check:?}");
        // D2: what depends on a package with errors is not looked at, and that is said.
        let is_part = report.to_string().contains(&format!(
            "\nnot checked: {}: {}: what depends on",
            check.root, check.checker
        ));
        assert_eq!(is_part, check.detail.is_some(), "{report}");
        let part = if is_part { " in part" } else { "" };
        format!("{} in {}{part}", check.checker, check.root)
    });
    // D3: a checker of a composite project of TypeScript would keep its state beside the sources.
    for (name, _) in files {
        let state = project.path(name).with_file_name("tsconfig.tsbuildinfo");
        assert!(!state.exists(), "{}", state.display());
    }
    (report.state, lines.collect(), checks.collect())
}

const MANIFEST: &str = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

#[test]
fn cargo_check_covers_a_workspace_once_and_a_package_beside_it() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let member = MANIFEST.replace("demo", "member");
    let beside = format!("{}\n[workspace]\n", MANIFEST.replace("demo", "beside"));
    let (state, lines, checks) = found(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"member\"]\nresolver = \"2\"\n",
        ),
        ("member/Cargo.toml", &member),
        (
            "member/src/lib.rs",
            "pub fn f() -> u32 {\n    let ä = \"é\"; ä\n}\n",
        ),
        ("beside/Cargo.toml", &beside),
        ("beside/src/lib.rs", "pub fn f() {}\n"),
    ]);
    assert_eq!(state, DiagnosticState::Found);
    assert_eq!(lines, ["member/src/lib.rs:2:18 error E0308"]);
    assert_eq!(
        checks,
        ["cargo check in . in part", "cargo check in beside"]
    );
}

#[test]
fn tsc_checks_every_project() {
    if peers::find("tsc").is_none() {
        return;
    }
    let (state, lines, checks) = found(&[
        (
            "one/tsconfig.json",
            "{\"compilerOptions\":{\"strict\":true}}",
        ),
        ("one/a.ts", "export const s = '😀', n: number = 'x';\n"),
        (
            "two/tsconfig.json",
            r#"{"compilerOptions": {"composite": true}}"#,
        ),
        ("two/b.ts", "export const ok = 1;\n"),
    ]);
    assert_eq!(state, DiagnosticState::Found);
    assert_eq!(lines, ["one/a.ts:1:23 error TS2322"]);
    assert_eq!(checks, ["tsc in one", "tsc in two"]);
}

#[test]
fn go_vet_finds_what_does_not_compile_and_what_is_dubious() {
    if peers::find("go").is_none() {
        return;
    }
    let (state, lines, _) = found(&[
        ("go.mod", "module demo\n\ngo 1.19\n"),
        (
            "main.go",
            "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Printf(\"%d\\n\", \"x\")\n}\n",
        ),
        ("bad/bad.go", "package bad\n\nvar y = undefinedName\n"),
    ]);
    assert_eq!(state, DiagnosticState::Found);
    assert_eq!(
        lines,
        ["bad/bad.go:3:9 error -", "main.go:6:2 warning printf"]
    );
}

#[test]
fn the_first_python_checker_that_is_there_checks() {
    if peers::find("basedpyright").is_none() {
        return;
    }
    let (state, lines, checks) = found(&[
        ("pyproject.toml", ""),
        ("a.py", "x: int = 'x'\n"),
        ("sub/pyproject.toml", ""),
        ("sub/b.py", "y: int = 1\n"),
    ]);
    assert_eq!(state, DiagnosticState::Found);
    assert_eq!(lines, ["a.py:1:10 error reportAssignmentType"]);
    assert_eq!(checks, ["basedpyright in ."]);
}

#[test]
fn the_compiler_runs_over_the_compilation_database() {
    if peers::find("cc").is_none() || peers::find("clang-tidy").is_some() {
        return;
    }
    let database = json!([
        {"directory": ".", "file": "../a.c", "command": "cc -Wall -c -o a.o ../a.c"},
        {"directory": ".", "file": "../b.c", "command": "cc -c ../b.c"},
    ]);
    let project = Project::new(&[
        ("build/compile_commands.json", &database.to_string()),
        ("a.c", "int main(void) { return nope; }\n"),
        ("b.c", "int b(void) { return 1; }\n"),
    ]);
    let report = checkers(&project)
        .check(project.supervisor.workspace(), &Cancel::new())
        .expect("it is not vetoed");
    assert_eq!(report.total, 1, "{report}");
    let [error] = report.diagnostics.as_slice() else {
        panic!("{report}");
    };
    assert_eq!(
        (error.file.as_str(), error.line, error.column),
        ("a.c", 1, 25)
    );
    assert_eq!(error.severity, Severity::Error);
    assert!(!project.path("build/a.o").exists(), "nothing is written");
}

// R18: the columns of an answer count characters; gcc counts columns of a terminal unless it is told not to.
#[test]
fn what_a_compiler_says_of_tabs_and_wide_characters_stands_where_it_is() {
    if peers::find("cc").is_none() || peers::find("clang-tidy").is_some() {
        return;
    }
    let database = json!([
        {"directory": ".", "file": "tab.c",
            "command": "cc -fdiagnostics-column-unit=display -fdiagnostics-color=always -c tab.c"},
        {"directory": ".", "file": "wide.c", "command": "cc -c wide.c"},
    ]);
    let (state, lines, _) = found(&[
        ("compile_commands.json", &database.to_string()),
        ("tab.c", "\tint f(void) { return undefined_x; }\n"),
        (
            "wide.c",
            "/* \u{1F600}\u{e9} */ int g(void) { return undefined_x; }\n",
        ),
    ]);
    assert_eq!(state, DiagnosticState::Found);
    assert_eq!(lines, ["tab.c:1:23 error -", "wide.c:1:31 error -"]);
}

// A compiler that does not know the option is not given it: an older gcc, and clang, count bytes by themselves.
#[test]
fn a_compiler_is_told_to_count_bytes_only_where_it_knows_how() {
    if peers::find("clang-tidy").is_some() {
        return;
    }
    let known = r#"case "$*" in *column-unit=byte*) unit=byte;; *) unit=display;; esac"#;
    let failing = r#"case "$*" in *column-unit*) echo 'cc: error: unrecognized option' >&2; exit 1;; esac; unit=plain"#;
    let warning =
        r#"case "$*" in *column-unit*) echo 'cc: warning: unknown option' >&2;; esac; unit=plain"#;
    for (script, unit) in [(known, "byte"), (failing, "plain"), (warning, "plain")] {
        let text = format!(
            "#!/bin/sh\n{script}\ncase \"$*\" in *a.c*) echo \"a.c:1:1: error: $unit\" >&2; exit 1;; esac\n"
        );
        let database = json!([{"directory": ".", "file": "a.c", "command": "./bin/cc -c a.c"}]);
        let project = Project::new(&[
            ("compile_commands.json", &database.to_string()),
            ("bin/cc", &text),
            ("a.c", "int x;\n"),
        ]);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path("bin/cc"), mode).expect("its owner");
        let report = checkers(&project)
            .check(project.supervisor.workspace(), &Cancel::new())
            .expect("it is not vetoed");
        assert_eq!(report.total, 1, "{report}");
        assert_eq!(report.diagnostics[0].message, unit, "{report}");
    }
}

#[test]
fn a_clean_project_is_clean_and_one_without_markers_is_not() {
    if peers::find("go").is_none() {
        return;
    }
    let (state, lines, _) = found(&[
        ("go.mod", "module demo\n\ngo 1.19\n"),
        ("a.go", "package demo\n"),
    ]);
    assert_eq!((state, lines.len()), (DiagnosticState::Clean, 0));
    let (state, _, checks) = found(&[("notes.txt", "")]);
    assert_eq!((state, checks.len()), (DiagnosticState::Unavailable, 0));
}

// D3: bounded in time; a check that was not made never reads as clean.
#[test]
fn a_check_without_time_is_pending() {
    if peers::find("go").is_none() {
        return;
    }
    let project = Project::new(&[
        ("go.mod", "module demo\n\ngo 1.19\n"),
        ("a.go", "package demo\n"),
    ]);
    let report = checkers(&project)
        .with_time(Duration::ZERO)
        .check(project.supervisor.workspace(), &Cancel::new())
        .expect("it is not vetoed");
    assert_eq!(report.state, DiagnosticState::Pending);
    assert_eq!(report.checks[0].outcome, Outcome::TimedOut);
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(
        checkers(&project)
            .check(project.supervisor.workspace(), &cancel)
            .is_err()
    );
}

#[test]
fn a_disabled_checker_is_left_out_and_said_so() {
    if peers::find("go").is_none() {
        return;
    }
    let project = Project::new(&[
        ("go.mod", "module demo\n\ngo 1.19\n"),
        ("a.go", "package demo\n"),
    ]);
    let report = checkers(&project)
        .without(&["go vet".to_owned()])
        .check(project.supervisor.workspace(), &Cancel::new())
        .expect("it is not vetoed");
    assert_eq!(report.state, DiagnosticState::Unavailable);
    assert_eq!(report.checks[0].outcome, Outcome::Skipped);
    assert!(
        report
            .to_string()
            .contains("go vet was left out: the configuration disables it")
    );
}

// R18, D3: the action of the tool, and the veto of the host.
#[test]
fn the_tool_runs_the_checkers_unless_the_host_vetoes_them() {
    let project = Project::new(&[("notes.txt", "")]);
    let ask = |checkers: Checkers| {
        let lsp = LspResources::new(project.supervisor.clone()).with_checkers(checkers);
        let resources = Resources {
            lsp: Some(lsp),
            ..Resources::default()
        };
        let run = Run::builder(connect(&resources)).build();
        let args = json!({"action": "diagnostics", "file": "*"});
        run.dispatch("lsp", args, CallOptions::new())
    };
    let output = ask(checkers(&project)).expect("it answers");
    assert_eq!(output.data["state"], "unavailable");
    let error = ask(Checkers::disabled("not trusted")).expect_err("vetoed");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(
        error.message(),
        "project checkers are disabled: not trusted"
    );
}

/// What a check over these files finds where `tsc` is this script.
fn with_tsc(script: &str, files: &[(&str, &str)]) -> CheckReport {
    let project = Project::new(files);
    let folder = project.work().with_file_name("bin");
    let program = folder.join("tsc");
    std::fs::create_dir(&folder).expect("writable");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("writable");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("writable");
    let env = environment(&project.work().with_file_name("home")).with("PATH", &folder);
    Checkers::new(Processes::new(Watch::Shell), env)
        .check(project.supervisor.workspace(), &Cancel::new())
        .expect("it is not vetoed")
}

// D2, D3: sources without a root marker are not checked, whatever else was; they are told with their number.
#[test]
fn sources_that_no_root_marker_covers_are_named_as_not_checked() {
    let files = |more: &[(&'static str, &'static str)]| {
        let mut files = vec![("web/tsconfig.json", "{}"), ("web/a.ts", "")];
        files.extend(more);
        with_tsc("exit 0", &files)
    };
    let covered = files(&[
        ("web/sub/b.tsx", ""),
        ("types.d.ts", ""),
        ("inc/only.h", ""),
        ("node_modules/x/x.ts", ""),
        (".gitignore", "made/\n"),
        (".git/HEAD", ""),
        ("made/x.c", ""),
    ]);
    assert_eq!(covered.state, DiagnosticState::Clean, "{covered}");
    let bare = files(&[
        ("src/a.c", ""),
        ("src/b.cc", ""),
        ("c.ts", ""),
        ("tool/d.rs", ""),
        ("e.go", ""),
        ("f.py", ""),
    ]);
    assert_eq!(bare.state, DiagnosticState::Unavailable, "{bare}");
    let above = "no root marker in or above their folders";
    assert_eq!(
        bare.to_string(),
        format!(
            "not all was checked; no errors or warnings in what was (tsc in web)
not checked: 1 file of Rust (tool/d.rs): {above} (Cargo.toml)
not checked: 1 file of TypeScript (c.ts): {above} (tsconfig.json)
not checked: 1 file of Go (e.go): {above} (go.mod)
not checked: 1 file of Python (f.py): {above} (pyproject.toml, pyrightconfig.json, setup.py, …)
not checked: 2 files of C or C++ (src/a.c, …): {above} (compile_commands.json)"
        )
    );
}

#[test]
fn a_folder_without_a_root_says_what_lies_there_and_a_database_of_a_build_covers_what_is_above() {
    let pure = with_tsc("exit 0", &[("a.c", "")]);
    assert_eq!(pure.state, DiagnosticState::Unavailable, "{pure}");
    let text = pure.to_string();
    let first = "not checked: no root marker of a known project here (Cargo.toml, ";
    assert!(text.starts_with(first), "{text}");
    assert!(
        text.contains("\nnot checked: 1 file of C or C++ (a.c): "),
        "{text}"
    );
    let database = json!([{"directory": ".", "file": "../a.c", "command": "none/cc -c ../a.c"}]);
    let built = with_tsc(
        "exit 0",
        &[
            ("build/compile_commands.json", &database.to_string()),
            ("a.c", ""),
        ],
    );
    assert!(!built.to_string().contains("no root marker"), "{built}");
}

/// What a scripted checker of Python finds in a time; its standard output begins as that of pyright does.
fn scripted(script: &str, time: Duration) -> toolbox::lsp::checkers::CheckReport {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new(&[("pyproject.toml", ""), ("a.py", "x = 1\ny = 2\n")]);
    let programs = project.work().with_file_name("programs");
    std::fs::create_dir(&programs).expect("writable");
    let item = |line: u32| {
        let file = project.path("a.py");
        let place = json!({"line": line, "character": 0});
        json!({"file": file, "severity": "error", "message": "bad", "rule": "r",
            "range": {"start": place, "end": place}})
    };
    let text = format!(
        "#!/bin/sh\nPATH=/usr/bin:/bin\necho '{{\"generalDiagnostics\": [{},'\n{}\n",
        item(0),
        script.replace("ITEM", &item(1).to_string())
    );
    let program = programs.join("basedpyright");
    std::fs::write(&program, text).expect("writable");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("its owner");
    let env = environment(&project.work().with_file_name("home")).with("PATH", &programs);
    Checkers::new(Processes::new(Watch::Shell), env)
        .with_time(time)
        .check(project.supervisor.workspace(), &Cancel::new())
        .expect("it is not vetoed")
}

// D3: a checker that fails and says nothing that can be read has not found the project clean.
#[test]
fn a_checker_that_falls_over_is_failed_and_nothing_is_clean() {
    let files = [("tsconfig.json", "{}"), ("a.ts", "let x = 1;\n")];
    let report = with_tsc("echo 'it fell over' >&2; exit 3", &files);
    assert_eq!(report.state, DiagnosticState::Unavailable, "{report}");
    assert_eq!(report.checks[0].outcome, Outcome::Failed, "{report}");
    assert!(report.to_string().contains("it fell over"), "{report}");
    let report = with_tsc("exit 0", &files);
    assert_eq!(report.state, DiagnosticState::Clean, "{report}");
}

// D3: fifty roots are checked; the one beyond is named as not checked, and nothing is clean for it.
#[test]
fn roots_beyond_the_bound_are_named_as_not_checked() {
    for (n_roots, state) in [
        (50, DiagnosticState::Clean),
        (51, DiagnosticState::Unavailable),
    ] {
        let names: Vec<String> = (0..n_roots)
            .map(|n| format!("p{n:02}/tsconfig.json"))
            .collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "{}")).collect();
        let report = with_tsc("exit 0", &files);
        assert_eq!(report.checks.len(), n_roots, "{report}");
        assert_eq!(report.state, state, "{report}");
        let skipped = report
            .checks
            .iter()
            .filter(|check| check.outcome == Outcome::Skipped);
        assert_eq!(skipped.count(), n_roots - 50, "{report}");
        assert_eq!(
            report.to_string().contains("more than 50 roots"),
            n_roots > 50
        );
    }
}

// D3, bounded in output: what was read counts, and the answer says that there is more.
#[test]
fn of_too_much_output_the_beginning_is_told() {
    let patient = Duration::from_secs(120);
    let whole = scripted("echo 'ITEM]}'\nexit 1", patient);
    assert_eq!((whole.total, whole.checks[0].outcome), (2, Outcome::Done));
    let fill = "head -c 33554432 /dev/zero | tr '\\0' ' '\necho 'ITEM]}'\nexit 1";
    let cut = scripted(fill, patient);
    assert_eq!(cut.state, DiagnosticState::Found);
    assert_eq!((cut.total, cut.checks[0].outcome), (1, Outcome::Cut));
    let text = cut.to_string();
    let last = "\nnot all told: .: basedpyright found more: its output is larger than 32 MiB";
    assert!(text.ends_with(last), "{text}");
}

// D3, bounded in time: what it found until then is told, and that it did not come to its end.
#[test]
fn what_a_check_found_before_its_time_ran_out_is_told() {
    let late = scripted("exec sleep 600", Duration::from_secs(5));
    assert_eq!(late.state, DiagnosticState::Found);
    assert_eq!((late.total, late.checks[0].outcome), (1, Outcome::TimedOut));
    let text = late.to_string();
    assert!(
        text.ends_with("\nnot checked: .: basedpyright took too long"),
        "{text}"
    );
}
