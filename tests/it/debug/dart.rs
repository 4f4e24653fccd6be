//! Dart after its documentation: a fake that stands for `dart debug_adapter`, because no SDK was at hand.

use serde_json::json;
use toolbox::dap::builtin;
use toolbox::tool::ErrorKind;

use super::bench::usable;
use super::{Bench, fake};
use crate::support::peers;

/// A workspace whose `dart` is the fake adapter.
fn bench(scenario: &str) -> Option<Bench> {
    let fake = fake(scenario)?;
    let mut row = builtin()
        .into_iter()
        .find(|row| row.id == "dart")
        .expect("it is known");
    row.programs = fake.programs;
    row.args = fake.args;
    Some(Bench::with(&["pubspec.yaml", "bin/main.dart"], |options| {
        options.adapters.push(row);
    }))
}

// R91: the extension picks dart; its breakpoints are set between initialized and configurationDone.
#[test]
fn a_dart_program_is_debugged() {
    let Some(bench) = bench("late") else { return };
    bench.breakpoints("bin/main.dart", json!([3]));
    let stop = bench.launch("bin/main.dart");
    assert_eq!(
        (&stop["state"], &stop["reason"]),
        (&json!("stopped"), &json!("breakpoint"))
    );
    let end = bench.op("continue");
    assert_eq!(end["exit_code"], 3);
    bench.nothing_is_left();
}

// D21: attaching takes the URI of the VM service; stop on entry is no word of Dart's.
#[test]
fn dart_attaches_by_uri_and_has_no_stop_on_entry() {
    let Some(bench) = bench("late") else { return };
    let attach = json!({"operation": "attach", "adapter": "dart"});
    bench.refuses(attach, ErrorKind::InvalidArgs, "`uri`");
    let launch = json!({"operation": "launch", "program": "bin/main.dart", "stop_on_entry": true});
    bench.refuses(launch, ErrorKind::Unavailable, "stop on entry");
    let attach = json!({"operation": "attach", "uri": "ws://127.0.0.1:1/x/ws"});
    assert_eq!(bench.does(attach)["state"], "stopped");
    assert_eq!(bench.op("terminate")["reason"], "detached");
    bench.nothing_is_left();
}

// R91 with the real adapter, where an SDK is on the `PATH`.
#[test]
fn the_real_adapter_debugs_a_dart_program() {
    if peers::find("dart").is_none() {
        return;
    }
    let bench = Bench::new(&[]);
    bench.write(
        "pubspec.yaml",
        "name: demo\nenvironment:\n  sdk: '>=2.12.0 <4.0.0'\n",
    );
    bench.write(
        "bin/main.dart",
        "void main() {\n  var sum = 0;\n  for (var i = 0; i < 3; i++) {\n    sum += i;\n  }\n  print('sum $sum');\n}\n",
    );
    if !usable(&bench, "dart") {
        return;
    }
    bench.breakpoints("bin/main.dart", json!([4]));
    let stop = bench.launch("bin/main.dart");
    assert_eq!(
        (&stop["state"], &stop["line"]),
        (&json!("stopped"), &json!(4)),
        "{stop:#}"
    );
    assert_eq!(bench.value("sum + i"), "0");
    bench.breakpoints("bin/main.dart", json!([]));
    let end = bench.op("continue");
    assert_eq!(end["state"], "exited", "{end:#}");
    assert!(bench.output().contains("sum 3"), "{}", bench.output());
    bench.nothing_is_left();
}
