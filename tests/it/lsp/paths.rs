//! A symbol that is written as a path: its last name is meant, by every question and by a rename.

use serde_json::json;
use toolbox::tool::ErrorKind;

use crate::lsp_rename::renamed_in;
use crate::support::servers::{BASEDPYRIGHT, TY};

const CODE: &str = "\
class Sum:
    def __init__(self) -> None:
        self.total = 0


def both(s: Sum, k: Sum) -> int:
    return s.total + k.total
";

// R15, D1: `s.total` is the name behind `s`, and the answer is headed by it.
#[test]
fn of_a_path_the_last_name_is_asked_about() {
    for server in [TY, BASEDPYRIGHT] {
        let Some(project) = server.project(&[("pyproject.toml", ""), ("a.py", CODE)]) else {
            continue;
        };
        let ask = |action: &str, symbol: &str| {
            let args = json!({"action": action, "file": "a.py", "line": 7, "symbol": symbol});
            project.call(args).expect("an answer")
        };
        let output = ask("references", "s.total");
        let heading = "3 references of 'total'\n";
        assert!(output.text.starts_with(heading), "{}", output.text);
        let output = ask("definition", "k.total");
        assert_eq!(
            output.data["locations"][0]["line"],
            3,
            "{}: {}",
            server.id(),
            output.text
        );
        let output = ask("hover", "total + k");
        assert!(output.text.contains("int"), "{}", output.text);
        assert!(!output.text.contains("Sum"), "{}", output.text);
        let of = |symbol: &str| {
            json!({"action": "hover", "file": "a.py", "line": 7,
            "symbol": symbol})
        };
        let error = project.refuses(of("total"), ErrorKind::InvalidArgs, "stands 2 times");
        assert!(error.hint().is_some_and(|hint| hint.contains("`s.name`")));
        let words = "'+ k.total' does not begin with a name";
        let error = project.refuses(of("+ k.total"), ErrorKind::InvalidArgs, words);
        assert!(error.hint().is_some_and(|hint| hint.contains("'k'")));
    }
}

#[test]
fn of_a_path_the_last_name_is_renamed() {
    let files = [("pyproject.toml", ""), ("a.py", CODE)];
    let Some(project) = BASEDPYRIGHT.project(&files) else {
        return;
    };
    let args = json!({"file": "a.py", "line": 7, "symbol": "k.total", "new_name": "amount"});
    let output = renamed_in(&project, args);
    let heading = "renamed 'total' to 'amount': 3 edits in 1 file\n";
    assert!(output.text.starts_with(heading), "{}", output.text);
    project.has_replaced(&files, "total", "amount");
}
