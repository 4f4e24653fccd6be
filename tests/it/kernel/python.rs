//! Python cells: what persists, what is shown, and what the answer says.

use serde_json::json;
use toolbox::run::CallOptions;
use toolbox::tool::ErrorKind;

use super::{Lab, peers};

// R96, R101, R102
#[test]
fn variables_live_until_a_reset() {
    if peers::find("python3").is_none() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python("x = 1");
    assert_eq!(output.data["result"], json!(null));
    let output = lab.python("x");
    assert_eq!(output.data["result"], "1");
    assert_eq!(output.data["execution_count"], 2);
    assert_eq!(output.text, "Out[2]: 1");
    let output = lab.cell(json!({"code": "'x' in globals()", "description": "d", "reset": true}));
    assert_eq!(output.data["result"], "False");
    assert_eq!(output.data["execution_count"], 1);
    assert!(output.text.starts_with("[the interpreter was reset"));
    assert_eq!(lab.processes.live(), 1);
    drop(lab.run);
    assert_eq!(lab.processes.live(), 0);
}

// R99, D22
#[test]
fn a_description_is_required() {
    let lab = Lab::new();
    for args in [
        json!({"code": "1"}),
        json!({"code": "1", "description": " \n"}),
    ] {
        let error = lab
            .run
            .dispatch("eval", args, CallOptions::new())
            .expect_err("no label");
        assert_eq!(error.kind(), ErrorKind::InvalidArgs);
        assert!(error.message().contains("description"));
    }
    assert_eq!(lab.processes.live(), 0, "nothing was started");
}

fn lab() -> Option<Lab> {
    peers::find("python3")?;
    Some(Lab::new())
}

// R95, R100 of the interpreter: the project's own comes first.
#[test]
fn the_projects_own_interpreter_runs_the_cells() {
    let Some(python) = peers::find("python3") else {
        return;
    };
    let wrapper = format!("#!/bin/sh\nVENV=\"$0\" exec {} \"$@\"\n", python.display());
    let install = |folder: &std::path::Path| {
        let bin = folder.join("bin");
        std::fs::create_dir_all(&bin).expect("a folder");
        std::fs::write(bin.join("python3"), &wrapper).expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join("python3"), mode).expect("executable");
    };
    let elsewhere = tempfile::tempdir().expect("a folder");
    install(elsewhere.path());
    let lab = Lab::with(|options| options.virtual_env = Some(elsewhere.path().to_owned()));
    let which = |lab: &Lab| {
        let args =
            json!({"code": "import os\nos.environ.get('VENV')", "description": "d", "reset": true});
        lab.cell(args).data["result"].as_str().map(str::to_owned)
    };
    let path =
        |folder: &std::path::Path| Some(format!("'{}'", folder.join("bin/python3").display()));
    assert_eq!(which(&lab), path(elsewhere.path()));
    install(&lab.root().join("venv"));
    assert_eq!(which(&lab), path(&lab.root().join("venv")));
    install(&lab.root().join(".venv"));
    assert_eq!(which(&lab), path(&lab.root().join(".venv")));
    let plain = Lab::new();
    assert_eq!(which(&plain), None);
    let interpreter = plain.python("1").data["interpreter"].clone();
    assert!(
        interpreter
            .as_str()
            .is_some_and(|text| text.contains("python3 (3.")),
        "{interpreter}"
    );
}

// R103: every display has one entry, in its richest form.
#[test]
fn displays_come_in_their_richest_form() {
    let Some(lab) = lab() else { return };
    let output = lab.python(
        "from IPython.display import display, HTML, Markdown, Image, SVG, JSON, Latex\n\
         display(HTML('<b>h</b>'), Markdown('# m'), Latex('$l$'), SVG('<svg/>'), JSON({'a': 1}), Image(b'\\x89PNG'), 5, 'text')",
    );
    let displays: Vec<(&str, &str)> = output.data["displays"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|display| {
            (
                display["mime"].as_str().unwrap_or(""),
                display["data"].as_str().unwrap_or(""),
            )
        })
        .collect();
    assert_eq!(
        displays,
        [
            ("text/html", "<b>h</b>"),
            ("text/markdown", "# m"),
            ("text/latex", "$l$"),
            ("image/svg+xml", "<svg/>"),
            ("application/json", "{\"a\": 1}"),
            ("image/png", "iVBORw=="),
            ("text/plain", "5"),
            ("text/plain", "text"),
        ]
    );
    assert!(
        output.text.starts_with("<b>h</b>\n# m\n$l$\n<svg/>\n"),
        "{}",
        output.text
    );
    assert_eq!(output.images.len(), 1);
    let output = lab.python("get_ipython().__class__.__name__, HTML('x')");
    assert_eq!(output.data["status"], "ok");
}

// R104
#[test]
fn frames_are_tables() {
    if peers::python_with("pandas").is_none() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python(
        "import pandas as pd\ndf = pd.DataFrame({f'column{i}': [i, 2 * i] for i in range(12)})\ndf",
    );
    let result = output.data["result"].as_str().expect("a table");
    assert_eq!(result.lines().count(), 3, "{result}");
    assert!(!result.contains('\\'), "no line is folded: {result}");
    assert!(
        output.data["result_bundle"]["text/html"]
            .as_str()
            .is_some_and(|html| html.contains("<table"))
    );
    let output = lab.python("display(df)");
    assert_eq!(output.data["displays"][0]["mime"], "text/html");
    assert!(output.text.contains("column11") && !output.text.contains("<table"));
}

// R105: pictures are real ones, of the size that was asked for.
#[test]
fn figures_come_as_pictures() {
    if peers::python_with("matplotlib").is_none() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python(
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots(figsize=(4, 3))\nax.plot([1, 4, 9])\nax.set_title('squares');",
    );
    let image = output.images.first().expect("a picture");
    assert_eq!(image.mime, "image/png");
    assert!(
        image.bytes.starts_with(b"\x89PNG\r\n\x1a\n") && image.bytes.ends_with(b"IEND\xaeB`\x82")
    );
    let width = u32::from_be_bytes(image.bytes[16..20].try_into().expect("four"));
    assert!((300..500).contains(&width), "{width}");
    assert!(output.text.contains("[image/png, "), "{}", output.text);
    let output = lab.python("display(fig)");
    assert_eq!(output.images.len(), 1);
    let output = lab.python("plt.figure();");
    assert_eq!(output.images.len(), 0, "an empty figure is none");
}

#[test]
fn a_cell_with_an_await_runs_in_the_loop_and_one_without_does_not() {
    let Some(lab) = lab() else { return };
    let output = lab.python(
        "import asyncio\nasync def work():\n    await asyncio.sleep(0.01)\n    print('done')\n\
         task = asyncio.create_task(work())\nawait asyncio.sleep(0.2)",
    );
    assert_eq!(output.data["output"], "done\n");
    assert_eq!(
        lab.python("asyncio.run(asyncio.sleep(0, 'ran'))").data["result"],
        "'ran'"
    );
    let output = lab.python("async def bad():\n    raise KeyError('k')\nawait bad()");
    assert_eq!(
        output.data["error"]["traceback"],
        "Traceback (most recent call last):\n  File \"<cell 3>\", line 3, in <module>\n    await bad()\n  \
         File \"<cell 3>\", line 2, in bad\n    raise KeyError('k')\nKeyError: 'k'"
    );
}

// R106
#[test]
fn notebook_idioms_work() {
    let Some(lab) = lab() else { return };
    lab.write(
        "job.py",
        "import sys\nvalue = len(sys.argv)\nprint('ran', __name__)\n",
    );
    for (code, output, result) in [
        (
            "x = !printf 'a\\nb\\n'\nx, x.n, x.s",
            "",
            "(['a', 'b'], 'a\\nb', 'a b')",
        ),
        (
            "y = 5\nfor i in range(2):\n    !echo {i + y} $y $$HOME | sed 's#/.*#H#'",
            "5 5 H\n6 5 H\n",
            "",
        ),
        (
            "def f(inner):\n    !echo {inner}\nf('local')",
            "local\n",
            "",
        ),
        (
            "!echo '{\"k\": {y}}' {y:03d} {nosuch} {{y}}",
            "{\"k\": 5} 005 {nosuch} {y}\n",
            "",
        ),
        ("!!echo 1; echo 2", "", "['1', '2']"),
        (
            "%%bash\nfor i in 1 2; do\n  echo \"$i {y}\"\ndone",
            "1 {y}\n2 {y}\n",
            "",
        ),
        ("%%sh -s\necho sh", "sh\n", ""),
        ("%%capture cap\nprint('hidden')\n1", "", ""),
        ("cap.stdout", "", "'hidden\\n'"),
        (
            "%env TOOL_X=7\n!echo $TOOL_X\n%env TOOL_X",
            "env: TOOL_X=7\n7\n",
            "'7'",
        ),
        ("%run job.py one\nvalue", "ran __main__\n", "2"),
        (
            "%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n3",
            "",
            "3",
        ),
        ("z = %pwd\nimport os\nz == os.getcwd()", "", "True"),
        ("%cd /\n%cd -\n1;", "/\nHERE\n", ""),
        ("!cd / && pwd", "/\n", ""),
    ] {
        let here = lab
            .root()
            .canonicalize()
            .expect("there")
            .display()
            .to_string();
        let data = lab.python(code).data;
        assert_eq!(data["status"], "ok", "{code}: {data:#}");
        let text = data["output"]
            .as_str()
            .unwrap_or_default()
            .replace(&here, "HERE");
        assert_eq!(text, output, "{code}");
        assert_eq!(
            data["result"].as_str().unwrap_or_default(),
            result,
            "{code}"
        );
    }
    for (code, word) in [
        ("%timeit -n 2 -r 2 1 + 1", "loops each)"),
        ("%%timeit -n 2 -r 2\n1 + 1", "loops each)"),
        ("%time 1 + 1", "Wall time: "),
        ("%%time\na = 1", "Wall time: "),
        ("?len", "Return the number of items"),
        ("str.join??", "Concatenate any number of strings"),
    ] {
        let data = lab.python(code).data;
        assert_eq!(data["status"], "ok", "{code}: {data:#}");
        assert!(
            data["output"]
                .as_str()
                .is_some_and(|text| text.contains(word)),
            "{code}: {data:#}"
        );
    }
    let data = lab.python("%%bash\nexit 3").data;
    assert_eq!(data["error"]["name"], "CalledProcessError");
}

#[test]
fn valid_python_is_never_rewritten() {
    let Some(lab) = lab() else { return };
    for (code, result) in [
        ("a = 7\nb = (a\n% 4)\nb", "3"),
        ("'''\n%pip install x\n!ls\n'''.count('\\n')", "3"),
        ("a = 5\na != 4", "True"),
        ("pip = 3\npip", "3"),
        ("[\n  1,\n  # !ls\n  2][1]", "2"),
        ("s = 'x?'\ns", "'x?'"),
        ("ls = 4\nls", "4"),
        // Beside a line that is none.
        (
            "s = '''\n!no\n%no\n'''\n%pwd\nt = [1,\n2\n% 3]\nt",
            "[1, 2]",
        ),
        ("x = {'a': 1}\n!true\nf\"{x['a']}!r\"", "'1!r'"),
    ] {
        let data = lab.python(code).data;
        assert_eq!(data["result"].as_str(), Some(result), "{code}: {data:#}");
    }
}

// R107, D39: modules of what was installed are fresh, native ones stay and the answer says so.
#[test]
fn an_installed_package_is_imported_afresh() {
    let Some(python) = peers::find("python3") else {
        return;
    };
    let lab = Lab::new();
    let root = lab.root();
    let made = std::process::Command::new(&python)
        .args([
            "-m",
            "venv",
            "--without-pip",
            "--system-site-packages",
            ".venv",
        ])
        .current_dir(&root)
        .output()
        .expect("it runs");
    assert!(made.status.success(), "{made:?}");
    let output =
        lab.python("import importlib.util, sysconfig\nimportlib.util.find_spec('pip') is not None");
    if output.data["result"] != "True" {
        println!("skipped: pip missing");
        return;
    }
    // A wheel is a zip; its distribution has another name than its packages.
    let wheel = "def wheel(version, native=False):\n    import zipfile, sysconfig, glob, os\n    \
        name = f'some_dist-{version}-py3-none-any.whl'\n    with zipfile.ZipFile(name, 'w') as z:\n        \
        z.writestr('other_name/__init__.py', f'v = {version!r}')\n        \
        z.writestr('other_name/sub.py', f'w = {version!r}')\n        \
        z.writestr('native_name/__init__.py', f'v = {version!r}')\n        \
        so = glob.glob(os.path.join(sysconfig.get_path('stdlib'), 'lib-dynload', '_bisect.*.so'))\n        \
        if so: z.write(so[0], 'native_name/' + os.path.basename(so[0]))\n        \
        z.writestr(f'some_dist-{version}.dist-info/METADATA', f'Metadata-Version: 2.1\\nName: some-dist\\nVersion: {version}\\n')\n        \
        z.writestr(f'some_dist-{version}.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n        \
        z.writestr(f'some_dist-{version}.dist-info/RECORD', '')\n    return name\nw1, w2 = wheel('1.0'), wheel('2.0')";
    let data = lab.python(wheel).data;
    assert_eq!(data["status"], "ok", "{data:#}");
    let data = lab.python("%pip install -q --no-index --no-deps {w1}").data;
    assert_eq!(data["status"], "ok", "{data:#}");
    let data = lab
        .python("import other_name, other_name.sub\nother_name.v, other_name.sub.w")
        .data;
    assert_eq!(data["result"], "('1.0', '1.0')");
    let data = lab.python("pip install -q --no-index --no-deps $w2").data;
    assert!(
        data["output"]
            .as_str()
            .is_some_and(|text| text.contains("[other_name: import it again")),
        "{data:#}"
    );
    let data = lab
        .python("import other_name, other_name.sub\nother_name.v, other_name.sub.w")
        .data;
    assert_eq!(data["result"], "('2.0', '2.0')");
    let native = lab
        .python("import native_name._bisect\nnative_name._bisect.__file__.endswith('.so')")
        .data;
    if native["result"] != "True" {
        println!("skipped: _bisect as a library missing");
        return;
    }
    let data = lab
        .python("!pip install -q --no-index --no-deps --force-reinstall {w1}")
        .data;
    let text = data["output"].as_str().expect("a text");
    assert!(
        text.contains("[native_name has native code loaded") && text.contains("reset"),
        "{text}"
    );
    assert_eq!(
        lab.python("import native_name\nnative_name.v").data["result"],
        "'2.0'"
    );
    let data = lab.python("%pip install nosuchpkg_zzz --no-index").data;
    assert_eq!(data["status"], "error");
}

// Issue 6: Python 3.13 imports `linecache` before it runs what `-c` says; a file of that name in the workspace
// must not be taken for it. The cell itself finds the modules of the workspace, and its children no trace.
#[test]
fn a_module_of_the_workspace_is_not_imported_at_the_start() {
    use std::os::unix::fs::PermissionsExt;

    let Some(python) = peers::find("python3") else {
        return;
    };
    let new = std::process::Command::new(&python)
        .args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"])
        .status();
    if !new.is_ok_and(|status| status.success()) {
        println!("skipped: python3.11 missing");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let early = folder.path().join("python3");
    let text = format!(
        "#!/bin/sh\n{0} -c 'import linecache; linecache.getlines' || exit 1\nexec {0} \"$@\"\n",
        python.display()
    );
    std::fs::write(&early, text).expect("a file");
    std::fs::set_permissions(&early, std::fs::Permissions::from_mode(0o755)).expect("ours");
    let code = "import os, sys, own\nown.x, sys.path[0], os.environ.get('PYTHONSAFEPATH')";
    for (enclosure, set, result) in [
        (&[][..], None, "(5, '', None)"),
        (&["env"][..], None, "(5, '', None)"),
        (&[][..], Some("1"), "ModuleNotFoundError"),
    ] {
        let lab = Lab::with(|options| {
            options.python = Some(early.clone());
            options.enclosure = enclosure.iter().map(|&word| word.to_owned()).collect();
            if let Some(set) = set {
                options.env.set("PYTHONSAFEPATH", set);
            }
        });
        lab.write("linecache.py", "");
        lab.write("own.py", "x = 5");
        let data = lab.python(code).data;
        match set {
            None => assert_eq!(data["result"], result, "{data:#}"),
            Some(_) => assert_eq!(data["error"]["name"], result, "{data:#}"),
        }
    }
}

#[test]
fn what_is_printed_between_cells_is_marked() {
    let Some(lab) = lab() else { return };
    lab.python("import threading, time, os\nr, w = os.pipe()\ndef f():\n    os.read(r, 1)\n    time.sleep(0.2)\n    print('late')\n    os.write(2, b'x' * 200_000 + b'\\n')\n    open('written', 'w').close()\nthreading.Thread(target=f).start()\nos.write(w, b'x')");
    let (_sender, tick) = std::sync::mpsc::channel::<()>();
    let written = lab.root().join("written");
    for _ in 0..1_000 {
        if written.exists() {
            break;
        }
        let _ = tick.recv_timeout(std::time::Duration::from_millis(20));
    }
    assert!(written.exists(), "a full pipe holds the thread up");
    let output = lab.python("print('now')");
    let text = output.data["output"].as_str().expect("a text");
    assert!(
        text.starts_with("[printed after the previous cell had ended]\n"),
        "{text:.200}"
    );
    let tail = &text[text.len().saturating_sub(120)..];
    assert!(tail.ends_with("[this cell]\nnow\n"), "{tail}");
}

// What is printed is out at once, also without a flush or a line end, and so is in order with children.
#[test]
fn output_keeps_its_order_with_that_of_children() {
    let Some(lab) = lab() else { return };
    let output = lab.python(
        "import os, subprocess, sys\nprint('A'); os.system('echo B'); print('C', end=''); subprocess.run(['echo', 'D'])\n\
         sys.stdout.buffer.write(b'E'); print('F', file=sys.stderr); os.write(1, b'G\\n');",
    );
    assert_eq!(output.data["output"], "A\nB\nCD\nEF\nG\n");
}

#[test]
fn a_progress_bar_shows_its_last_state() {
    let Some(lab) = lab() else { return };
    let output = lab.python(
        "import sys\nfor i in range(5):\n    sys.stdout.write(f'\\r{i}/4')\nprint()\nprint('a\\r')",
    );
    assert_eq!(output.text, "4/4\na");
}
