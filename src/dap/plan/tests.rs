//! What adapters are told, without any adapter.

use super::*;
use crate::dap::adapters::builtin;

fn detected(id: &str) -> Detected {
    Detected {
        row: builtin()
            .into_iter()
            .find(|row| row.id == id)
            .expect("a row"),
        root: None,
        program: Ok(PathBuf::from("/bin/x")),
        interpreter: None,
    }
}

// D21: what an adapter cannot do is said before anything starts.
#[test]
fn what_an_adapter_lacks_is_refused() {
    let module = LaunchSpec {
        module: Some("m".to_owned()),
        ..LaunchSpec::default()
    };
    assert!(supported(&detected("debugpy"), &module).is_ok());
    assert!(supported(&detected("lldb"), &module).is_err());
    let mode = LaunchSpec {
        mode: Some("test".to_owned()),
        ..LaunchSpec::default()
    };
    assert!(supported(&detected("delve"), &mode).is_ok());
    assert!(supported(&detected("debugpy"), &mode).is_err());
    let entry = LaunchSpec {
        stop_on_entry: true,
        ..LaunchSpec::default()
    };
    assert!(supported(&detected("debugpy"), &entry).is_ok());
    assert!(supported(&detected("dart"), &entry).is_err());
}

#[test]
fn debugpy_gets_exactly_one_of_program_and_module() {
    let spec = LaunchSpec {
        module: Some("m".to_owned()),
        ..LaunchSpec::default()
    };
    let arguments = debugpy(&detected("debugpy"), &spec, None, Path::new("/w"));
    assert_eq!(arguments["module"], "m");
    assert!(arguments.get("program").is_none());
    assert_eq!(arguments["subProcess"], false);
}

#[test]
fn delve_takes_its_mode_from_the_program() {
    for (program, mode) in [
        ("/x/a.go", "debug"),
        ("/x/a_test.go", "test"),
        ("/x/a", "exec"),
    ] {
        let spec = LaunchSpec::default();
        let (arguments, scratch) =
            delve(&spec, Some(Path::new(program)), Path::new("/x")).expect("a plan");
        assert_eq!(arguments["mode"], mode, "{program}");
        assert_eq!(scratch.is_some(), mode != "exec");
    }
    let odd = LaunchSpec {
        mode: Some("replay".to_owned()),
        ..LaunchSpec::default()
    };
    assert!(delve(&odd, None, Path::new("/x")).is_err());
}
