//! `DeliverArtifacts`: what arrives, that it is all or nothing, and what is refused.

use std::sync::{Arc, Mutex};

use toolbox::artifacts::ArtifactsReport;

use super::*;
use crate::files_support::tree;

fn folder(bench: &Bench) -> std::path::PathBuf {
    bench.place.state().join("artifacts")
}

fn manifest(bench: &Bench) -> Value {
    let text = fs::read(folder(bench).join("manifest.json")).expect("the manifest");
    serde_json::from_slice(&text).expect("JSON")
}

// R150: copies under their paths, and a manifest that grows with each delivery.
#[test]
fn files_arrive_with_a_manifest() {
    let bench = Bench::new(&[
        ("out/report.md", "# Hi\n"),
        ("plot.png", "\u{89}PNG"),
        ("empty", ""),
    ]);
    let paths = json!(["plot.png", "out/report.md", "./out/../plot.png"]);
    let output = bench.answer("DeliverArtifacts", json!({"paths": paths}));
    let report = json!({
        "path": "out/report.md",
        "size": 5,
        "mime": "text/markdown",
    });
    let listed = &output.data["artifacts"];
    for key in ["path", "size", "mime"] {
        assert_eq!(listed[0][key], report[key], "{key}");
    }
    let digits = listed[0]["sha256"].as_str().expect("a hash");
    assert!(digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(
        (&listed[1]["path"], &listed[1]["mime"]),
        (&json!("plot.png"), &json!("image/png"))
    );
    assert_eq!(
        listed.as_array().map(Vec::len),
        Some(2),
        "named twice, delivered once"
    );
    assert!(
        output
            .text
            .starts_with("out/report.md (5 bytes, text/markdown)\n"),
        "{}",
        output.text
    );
    assert_eq!(
        fs::read_to_string(folder(&bench).join("files/out/report.md")).expect("a copy"),
        "# Hi\n"
    );
    assert_eq!(&manifest(&bench)["artifacts"], listed);

    bench.place.write("out/report.md", "# Hello\n");
    let again = bench.answer(
        "DeliverArtifacts",
        json!({"paths": ["out/report.md", "empty"]}),
    );
    let rows = manifest(&bench)["artifacts"].clone();
    let sizes: Vec<(&Value, &Value)> = rows
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (&row["path"], &row["size"]))
        .collect();
    assert_eq!(
        sizes,
        [
            (&json!("empty"), &json!(0)),
            (&json!("out/report.md"), &json!(8)),
            (&json!("plot.png"), &json!(5))
        ]
    );
    assert_ne!(again.data["artifacts"][1]["sha256"], listed[0]["sha256"]);
    assert_eq!(
        again.data["artifacts"][0]["sha256"],
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    bench.answer("DeliverArtifacts", json!({"paths": "plot.png"}));
}

// R150, D36: one unfit file and nothing is delivered; every unfit one is named.
#[test]
fn all_or_nothing_is_delivered() {
    let bench = Bench::new(&[("good.txt", "x"), ("dir/a", "")]);
    let work = bench.place.work();
    symlink("good.txt", work.join("link.txt")).expect("a link");
    symlink("/etc", work.join("out")).expect("a link");
    fs::write(bench.place.temp.path().join("beside"), "").expect("a file");
    bench.answer("DeliverArtifacts", json!({"paths": "good.txt"}));
    bench.place.write("good.txt", "changed");
    let before = tree(&folder(&bench));
    for (path, kind, words) in [
        (
            "link.txt",
            ErrorKind::InvalidArgs,
            "'link.txt' is a symbolic link",
        ),
        ("dir", ErrorKind::InvalidArgs, "'dir' is no regular file"),
        ("nosuch", ErrorKind::NotFound, "no file 'nosuch'"),
        ("good.txt/x", ErrorKind::NotFound, "no file"),
        ("../beside", ErrorKind::InvalidArgs, "outside the workspace"),
        (
            "/etc/passwd",
            ErrorKind::InvalidArgs,
            "outside the workspace",
        ),
        (
            "out/passwd",
            ErrorKind::InvalidArgs,
            "outside the workspace",
        ),
    ] {
        let args = json!({"paths": ["good.txt", path]});
        bench.refuses("DeliverArtifacts", args, kind, words);
    }
    let args = json!({"paths": ["dir", "good.txt", "nosuch"]});
    let error = bench.refuses("DeliverArtifacts", args, ErrorKind::InvalidArgs, "'dir'");
    assert!(error.message().contains("nosuch"), "{error}");
    assert_eq!(tree(&folder(&bench)), before);
}

// R150: caps at n and one more.
#[test]
fn caps_are_exact() {
    let place = Place::on_disk();
    let names: Vec<String> = (0..101).map(|n| format!("{n}.txt")).collect();
    for name in &names {
        place.write(name, "x");
    }
    for (name, len) in [
        ("half", 50 << 20),
        ("other", 50 << 20),
        ("more", (50 << 20) + 1),
    ] {
        let file = fs::File::create(place.work().join(name)).expect("a file");
        file.set_len(len).expect("a sparse file");
    }
    let bench = Bench::over(place);
    let refuses = |paths: Value, words: &str| {
        bench.refuses(
            "DeliverArtifacts",
            json!({"paths": paths}),
            ErrorKind::InvalidArgs,
            words,
        );
    };
    refuses(json!([]), "no file was named");
    refuses(json!(names), "101 files were named; the limit is 100");
    bench.answer("DeliverArtifacts", json!({"paths": names[1..]}));
    refuses(json!(["half", "more"]), "over 104857600 bytes");
    bench.answer("DeliverArtifacts", json!({"paths": ["half", "other"]}));
}

// R150: who asked for it is told of each delivery, and of nothing else.
#[test]
fn a_delivery_is_told() {
    let place = Place::new();
    place.write("a.txt", "x");
    let told: Arc<Mutex<Vec<ArtifactsReport>>> = Arc::default();
    let workspace = Workspace::open(&place.work()).expect("the folder exists");
    let mut artifacts = ArtifactsResources::new(
        workspace,
        place.state().join("artifacts"),
        place.state().join("journal"),
    );
    let sink = Arc::clone(&told);
    artifacts.on_delivery = Some(Arc::new(move |report, _| {
        sink.lock().expect("no panic").push(report.clone());
    }));
    let registry = connect(&Resources {
        artifacts: Some(artifacts),
        ..Resources::default()
    });
    let run = Run::builder(registry)
        .approver(AutoApprove::up_to(Tier::Write))
        .build();
    let call = |paths: Value| {
        run.dispatch(
            "DeliverArtifacts",
            json!({"paths": paths}),
            CallOptions::new(),
        )
    };
    call(json!(["a.txt", "nosuch"])).expect_err("it is not there");
    call(json!("a.txt")).expect("it is delivered");
    let told = told.lock().expect("no panic");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].artifacts[0].path, "a.txt");
}

// R150: a manifest that is no longer one stops a delivery before anything is copied.
#[test]
fn a_broken_manifest_stops_a_delivery() {
    let bench = Bench::new(&[("a.txt", "x")]);
    fs::create_dir_all(folder(&bench)).expect("a folder");
    fs::write(folder(&bench).join("manifest.json"), "{").expect("a file");
    let before = tree(&folder(&bench));
    bench.refuses(
        "DeliverArtifacts",
        json!({"paths": "a.txt"}),
        ErrorKind::Failed,
        "manifest.json",
    );
    assert_eq!(tree(&folder(&bench)), before);
}
