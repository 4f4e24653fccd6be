//! The cases of `testdata/kernel`: what people met in notebooks, each run as a call of `eval`.
//!
//! A case is a list of cells with what each shall give; the file says where it was met and why it matters.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbox::run::CallOptions;

use super::{Lab, peers};

const CASES: &str = concat!(
    include_str!("../../../testdata/kernel/cases.jsonl"),
    include_str!("../../../testdata/kernel/more.jsonl"),
);

macro_rules! cases {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run(&stringify!($name).replace('_', "-"));
            }
        )*

        // R96, D25: no case of the files is left out.
        #[test]
        fn every_case_is_a_test() {
            let names = [$(stringify!($name).replace('_', "-")),*];
            let ids: Vec<String> = all()
                .map(|case| case["id"].as_str().expect("an id").to_owned())
                .collect();
            assert_eq!(ids, names);
        }
    };
}

cases! {
    py_echo_last_only
    py_semicolon_then_comment
    py_underscore_last_result
    py_gettext_underscore
    py_partial_state_on_error
    py_syntax_error_runs_nothing
    py_magic_lines_inside_string
    py_percent_operator_continued
    py_bang_json_literal
    py_bang_exit_code_visible
    py_cellbash_after_comment
    py_writefile_verbatim
    py_unknown_magic
    py_prompts_pasted
    py_asyncio_run_works
    py_gil_held_big_printf
    py_huge_output_bounded
    py_shell_output_streams
    py_late_thread_output
    py_stdout_closed
    py_carriage_return
    py_shadow_protocol_names
    py_print_overwritten
    py_stdlib_shadowed_by_cwd
    py_pickle_main
    py_future_import_persists
    py_traceback_user_frames
    py_system_exit
    py_os_exit
    py_segfault
    py_recursion
    py_small_recursion_limit
    py_broken_repr
    py_memory_error
    py_input_refused
    py_child_stdin_not_protocol
    py_background_process_does_not_block
    py_interrupt_sleep
    py_interrupt_busy_loop
    py_interrupt_shell_loop
    py_interrupt_sigint_ignored
    py_interrupt_then_killed
    py_interrupt_swallowed
    py_figure_once
    py_figure_fresh_per_cell
    py_display_order
    py_mime_protocol
    py_tool_basic
    py_tool_parallel_threads
    py_tool_asyncio
    py_tool_interrupt
    py_activity_resets_clock
    py_garbage_on_protocol_fd
    py_closerange
    py_pip_native_not_evicted
    py_pip_failure_is_error
    js_const_redeclare
    js_await_binding_persists
    js_function_hoisting
    js_object_literal
    js_stdout_all_sources
    js_child_nonblocking_pipe
    js_multiple_display
    js_floating_rejection
    js_await_result
    js_syntax_error
    py_decorated_def_last
    py_multi_line_expression
    py_async_comprehension
    py_shell_into_name
    py_magic_in_block
    py_not_equal_continued
    py_env_reaches_commands
    py_timers
    py_bash_failure
    py_bash_braces
    py_capture
    py_run_script
    py_help_question
    py_writefile_append
    py_unicode_everywhere
    py_crlf
    py_chained_error
    py_own_interrupt
    py_exit_with_text
    py_kills_itself
    py_logging_and_warnings
    py_children_in_order
    py_bytes_and_surrogates
    py_nothing_to_run
    py_modules_cleared
    py_standard_input_is_empty
    py_bridge_odd_values
    py_get_ipython
    py_traced
    py_thread_error
    py_folder_gone
    py_standard_descriptors_closed
    py_missing_module
    py_match_and_reprs
    py_reflex_magics
    py_alarm
    py_builtins_replaced
    py_modules_patched
    py_streams_that_raise
    py_getsource
    py_traceback_through_two_cells
    js_kinds_of_values
    js_statements_show_nothing
    js_redeclared_in_any_way
    js_private_members
    js_imports
    js_await_forms
    js_odd_throws
    js_exit_caught
    js_language_overwritten
    js_prototype_with_tojson
    js_late_timer
    js_inspection_that_throws
    js_language_poisoned
    js_then_on_every_object
    js_bridge_gives_the_cells_own_classes
}

fn all() -> impl Iterator<Item = Value> {
    CASES
        .lines()
        .map(|line| serde_json::from_str(line).expect("a case is JSON"))
}

// R96, D25: every interpreter of another version that is found runs what its version can: Python from 3.8,
// Node.js from 18.
#[test]
fn other_versions_of_python_run_the_cases() {
    run_on_others("python");
}

#[test]
fn other_versions_of_node_run_the_cases() {
    run_on_others("javascript");
}

/// The cases in which versions differ most: all of them on every version would take many minutes.
const PORTABLE: [&str; 13] = [
    "py-echo-last-only",
    "py-traceback-user-frames",
    "py-builtins-replaced",
    "py-modules-patched",
    "py-getsource",
    "py-traceback-through-two-cells",
    "py-async-comprehension",
    "js-const-redeclare",
    "js-await-binding-persists",
    "js-syntax-error",
    "js-language-poisoned",
    "js-then-on-every-object",
    "js-bridge-gives-the-cells-own-classes",
];

fn run_on_others(language: &str) {
    for program in peers::other_interpreters(language) {
        let version = program.to_string_lossy();
        let minor = version.rsplit_once("python3.");
        let minor: Option<u32> = minor.and_then(|(_, minor)| minor.parse().ok());
        for case in all().filter(|case| case["language"] == language) {
            let since = case["since"]
                .as_str()
                .and_then(|since| since[2..].parse().ok());
            let knows = since.is_none_or(|since: u32| minor.is_none_or(|minor| minor >= since));
            let id = case["id"].as_str().expect("an id");
            if knows && PORTABLE.contains(&id) {
                println!("{version}: {}", case["id"]);
                run_in(&case, &lab_of(&case, Some(&program)));
            }
        }
    }
}

fn run(id: &str) {
    let case = all()
        .find(|case| case["id"] == id)
        .expect("it is in the file");
    if let Some(lab) = lab(&case, case["language"].as_str().expect("a language")) {
        run_in(&case, &lab);
    }
}

fn run_in(case: &Value, lab: &Lab) {
    let id = case["id"].as_str().expect("an id");
    let language = case["language"].as_str().expect("a language");
    for (name, text) in case["files"].as_object().into_iter().flatten() {
        lab.write(name, text.as_str().expect("a text"));
    }
    let cells = case["cells"].as_array().expect("cells");
    let expected = case["expect"]["cells"].as_array().expect("expectations");
    for (at, (cell, expected)) in cells.iter().zip(expected).enumerate() {
        let options = CallOptions::new();
        let mut timer = None;
        if case["interrupt_cell"] == at {
            let after = case["interrupt_after_ms"].as_u64().expect("a time");
            let cancel = toolbox::cancel::Cancel::new();
            timer = Some(super::cancel_after(&cancel, Duration::from_millis(after)));
            let options = options.with_cancel(cancel);
            check(lab, cell, language, expected, options, id, at);
        } else {
            check(lab, cell, language, expected, options, id, at);
        }
        drop(timer);
    }
    if let Some(prefix) = case["check_files_empty"].as_str() {
        let prefix = prefix.trim_end_matches('*');
        for entry in std::fs::read_dir(lab.root()).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                assert_eq!(entry.metadata().expect("there").len(), 0, "{entry:?}");
            }
        }
    }
}

fn lab(case: &Value, language: &str) -> Option<Lab> {
    let program = match language {
        "python" => "python3",
        _ => "node",
    };
    peers::find(program)?;
    for module in case["requires"].as_array().into_iter().flatten() {
        let module = module.as_str().expect("a name");
        if module.contains("wheels") {
            return lab_with_wheels();
        }
        peers::python_with(module)?;
    }
    Some(lab_of(case, None))
}

fn lab_of(case: &Value, program: Option<&Path>) -> Lab {
    let budget = case["inactivity_s"].as_u64().unwrap_or(120);
    Lab::with(|options| {
        options.budget = Some(Duration::from_secs(budget));
        if case["cells"].to_string().contains("ru_maxrss") {
            // A process begins with the peak memory of the one that forked it, and this one runs every test;
            // the relay of an enclosure is small.
            options.enclosure = vec!["env".to_owned()];
        }
        match case["language"].as_str() {
            Some("python") => options.python = program.map(Path::to_owned),
            _ => options.node = program.map(Path::to_owned),
        }
    })
}

/// A project of its own with the older of the two wheels that `tests/install-peers` fetched; pip finds the
/// other in the same folder, and asks no registry.
fn lab_with_wheels() -> Option<Lab> {
    let python = peers::find("python3")?;
    let wheels = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers/wheels");
    if std::fs::read_dir(&wheels).is_ok_and(|mut entries| entries.next().is_some()) {
        let lab = Lab::with(|options| {
            options.env.set("PIP_NO_INDEX", "1");
            options.env.set("PIP_FIND_LINKS", &wheels);
        });
        let pip = lab.root().join(".venv/bin/pip");
        for (program, args) in [
            (&python, &["-m", "venv", ".venv"][..]),
            (&pip, &["install", "-q", "numpy==1.26.4"][..]),
        ] {
            let output = std::process::Command::new(program)
                .args(args)
                .env("PIP_NO_INDEX", "1")
                .env("PIP_FIND_LINKS", &wheels)
                .current_dir(lab.root())
                .output();
            if !output.is_ok_and(|output| output.status.success()) {
                println!("skipped: numpy for this Python missing");
                return None;
            }
        }
        return Some(lab);
    }
    println!("skipped: wheels of numpy missing");
    None
}

fn check(
    lab: &Lab,
    cell: &Value,
    language: &str,
    expected: &Value,
    options: CallOptions,
    id: &str,
    at: usize,
) {
    let code = cell.as_str().expect("code");
    let started = Instant::now();
    let args = json!({"code": code, "description": "a case", "language": language});
    let output = lab
        .run
        .dispatch("eval", args, options)
        .unwrap_or_else(|error| panic!("{id} {at}: {error}"));
    let took = started.elapsed();
    let data = &output.data;
    let fail =
        |what: &str| -> ! { panic!("{id} cell {at}: {what}\nexpected {expected}\ngot {data:#}") };
    let text = data["output"].as_str().unwrap_or_default();
    let result = data["result"].as_str().unwrap_or_default();
    let traceback = data["error"]["traceback"].as_str().unwrap_or_default();
    let displays = data["displays"].as_array().expect("a list");
    let images = displays.iter().filter(|display| {
        display["mime"]
            .as_str()
            .is_some_and(|mime| mime.starts_with("image/"))
    });
    let number = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("small");
    for (key, value) in expected.as_object().expect("an object") {
        let word = value.as_str().unwrap_or_default();
        let good = match key.as_str() {
            "status" => data["status"] == *value,
            "result" => data["result"] == *value,
            "result_contains" => words(value).all(|word| result.contains(word)),
            "result_max_chars" => result.chars().count() <= number(value),
            "stdout" => text == word,
            "stdout_contains" => text.contains(word),
            "stdout_contains_all" => words(value).all(|word| text.contains(word)),
            "stdout_not_contains" => !text.contains(word),
            "stdout_ends" => text.ends_with(word),
            "stdout_len" => data["output_bytes"] == *value,
            "stdout_min" => data["output_bytes"].as_u64() >= value.as_u64(),
            "stdout_truncated" => data["output_file"].is_string() == *value && text.len() < 51_000,
            "images" => images.clone().count() == number(value),
            "displays" => displays.len() == number(value),
            "order" => in_order(&output.text, value),
            "error_type" => data["error"]["name"] == *value,
            "tb_contains" => words(value).all(|word| traceback.contains(word)),
            "tb_absent" => words(value).all(|word| !traceback.contains(word)),
            "tb_max_chars" => traceback.chars().count() <= number(value),
            "code" => data["exit_code"] == *value,
            "signal" => data["signal"] == *value,
            // The machine may be busy: the times of the file hold for one at rest.
            "max_ms" => took < Duration::from_millis(number(value) as u64) * 4,
            other => panic!("{id}: unknown expectation {other}"),
        };
        if !good {
            fail(key);
        }
    }
    assert_eq!(data["state_kept"], json!(data["status"] != "died"));
}

fn words(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn in_order(text: &str, value: &Value) -> bool {
    let mut rest = text;
    words(value).all(|word| match rest.find(word) {
        Some(at) => {
            rest = &rest[at + word.len()..];
            true
        }
        None => false,
    })
}
