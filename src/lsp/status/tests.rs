//! How the reports read.

use super::*;

fn server(root: &str, reason: &str) -> ServerStatus {
    ServerStatus {
        id: "ra".to_owned(),
        root: Some(root.to_owned()),
        state: "unusable",
        reason: Some(reason.to_owned()),
        ..ServerStatus::default()
    }
}

fn report(servers: Vec<ServerStatus>) -> String {
    let report = StatusReport {
        servers,
        without_either: 0,
        unseen_files: 0,
    };
    report.to_string()
}

// R27: what a server complains about in several lines stays below its own line.
#[test]
fn further_lines_of_a_complaint_are_indented() {
    let mut one = server("a", "no cargo");
    one.health = Some("first\nsecond\n".to_owned());
    let text = report(vec![one, server("b", "no cargo")]);
    assert_eq!(
        text,
        "ra (a): unusable: no cargo\n  health: first\n    second\nra (b): unusable: no cargo\n"
    );
}

#[test]
fn a_long_reason_is_said_once_for_all_roots_of_a_server() {
    let long = "x".repeat(REPEATED_CHARS + 1);
    let mut other = server("a", &long);
    other.id = "other".to_owned();
    let text = report(vec![
        server("a", &long),
        server("b", &long),
        server("c", &long),
        other,
    ]);
    assert_eq!(
        text,
        format!(
            "ra (a): unusable: {long}\nra (b): unusable: the same as above\n\
             ra (c): unusable: the same as above\nother (a): unusable: {long}\n"
        )
    );
    let short = &long[1..];
    let text = report(vec![server("a", short), server("b", short)]);
    assert_eq!(text.matches(short).count(), 2);
}

#[test]
fn one_document_is_no_plural() {
    let of = |documents: usize| {
        let reloaded = Reloaded {
            id: "ra".to_owned(),
            root: ".".to_owned(),
            state: "running",
            reason: None,
            documents,
        };
        let servers = vec![reloaded];
        ReloadReport { servers }.to_string()
    };
    assert_eq!(of(1), "ra (.): running, 1 document opened again\n");
    assert_eq!(of(2), "ra (.): running, 2 documents opened again\n");
}
