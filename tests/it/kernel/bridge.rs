//! What cells call: the bridge into the gate of the run.

use std::time::Duration;

use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{Call, Image, Output, Tier};

use super::{Lab, cancel_after, peers, spec};

fn both() -> bool {
    peers::find("python3").is_some() && peers::find("node").is_some()
}

// R108, D24
#[test]
fn a_tool_gives_its_text_or_its_data() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    let output = lab.python("r = tool('text', {'n': 1})\nr, r.data, r.images, isinstance(r, str)");
    assert_eq!(
        output.data["result"],
        "('the text', {'n': 1}, [<image/png, 4 bytes>], True)"
    );
    let output = lab.python("tool('echo', {'a': [1, 2.5, None, True, 'ü']})");
    assert_eq!(output.data["result"], "{'a': [1, 2.5, None, True, 'ü']}");
    let output = lab.javascript("await tool('text', {n: 1})");
    assert_eq!(output.data["result"], "'the text'");
    let output = lab.javascript(
        "const full = await tool.full('text', {n: 1}); [full.data, full.images[0].data.length]",
    );
    assert_eq!(output.data["result"], "[ { n: 1 }, 4 ]");
    let output = lab.javascript("tool('echo', {a: [1, 'ü']})");
    assert_eq!(output.data["result"], "{ a: [ 1, 'ü' ] }");
}

// D24: a failure raises with the tool's own words.
#[test]
fn a_failing_tool_raises_in_the_cell() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    let output = lab.python("tool('fail')");
    assert_eq!(output.data["status"], "error");
    assert_eq!(output.data["error"]["name"], "ToolError");
    assert_eq!(
        output.data["error"]["value"],
        "no such thing (hint: look elsewhere)"
    );
    let output = lab.python(
        "try:\n    tool('fail')\nexcept tool.Error as e:\n    print(e.kind, e.message, e.hint)",
    );
    assert_eq!(
        output.data["output"],
        "not_found no such thing look elsewhere\n"
    );
    let output = lab.javascript(
        "try { await tool('fail') } catch (e) { console.log(e.name, e.kind, e.message) }",
    );
    assert_eq!(
        output.data["output"],
        "ToolError not_found no such thing (hint: look elsewhere)\n"
    );
    assert_eq!(
        lab.javascript("await tool('fail')").data["error"]["name"],
        "ToolError"
    );
    assert_eq!(
        lab.python("tool('nosuch')").data["error"]["name"],
        "ToolError"
    );
    assert_eq!(lab.python("tool('echo', {1, 2})").data["status"], "error");
    assert_eq!(
        lab.python("tool('echo', {'x': object()})").data["error"]["name"],
        "TypeError"
    );
    let deep = "x = []\nfor _ in range(500): x = [x]\ntool('echo', {'x': x})";
    let output = lab.python(deep);
    assert_eq!(output.data["status"], "error", "{:#}", output.data);
    assert_eq!(lab.python("1").data["result"], "1");
}

// R109: the gate decides about what a cell calls as about any other call.
#[test]
fn a_denied_tool_is_denied_from_the_cell() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Read);
    let approved = |args: Value| {
        let options = CallOptions::new().approved_by_caller();
        lab.run.dispatch("eval", args, options).expect("a report")
    };
    let output = approved(json!({"code": "tool('note', {})", "description": "d"}));
    let value = output.data["error"]["value"].as_str().expect("an error");
    assert!(value.contains("note was not approved"), "{value}");
    let output = approved(
        json!({"code": "await tool('note')", "description": "d", "language": "javascript"}),
    );
    let value = output.data["error"]["value"].as_str().expect("an error");
    assert!(value.contains("note was not approved"), "{value}");
    let output = approved(json!({"code": "tool('echo', {})", "description": "d"}));
    assert_eq!(output.data["status"], "ok");
}

// D24: a cell inside a cell would wait for itself.
#[test]
fn eval_inside_eval_is_refused() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    let output = lab.python("tool('eval', {'code': '1', 'description': 'x'})");
    let value = output.data["error"]["value"].as_str().expect("an error");
    assert!(value.contains("eval is busy"), "{value}");
    let output =
        lab.python("tool('eval', {'code': '1', 'description': 'x', 'language': 'javascript'})");
    assert_eq!(output.data["status"], "error");
}

#[test]
fn fifty_calls_run_at_once() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    let n = "import asyncio, time\nstart = time.time()";
    lab.python(n);
    let check = |output: Output| {
        assert_eq!(output.data["status"], "ok", "{:#}", output.data);
        let result = output.data["result"].as_str().expect("a result");
        assert!(result.contains("50"), "{result}");
        let met = lab.python("tool('most')").data["result"].clone();
        assert_eq!(met, "50");
    };
    check(lab.python(
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(50) as pool:\n    \
         r = list(pool.map(lambda i: tool('meet', {'i': i}), range(50)))\nlen(r), [x['i'] for x in r] == list(range(50))",
    ));
    check(
        lab.python("len(await asyncio.gather(*[tool.aio('meet', {'i': i}) for i in range(50)]))"),
    );
    check(lab.python("len(await asyncio.gather(*[asyncio.to_thread(tool, 'meet', {'i': i}) for i in range(50)]))"));
    check(lab.javascript(
        "(await Promise.all([...Array(50).keys()].map(i => tool('meet', {i})))).length",
    ));
}

#[test]
fn more_calls_than_run_at_once_wait() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    let output = lab.javascript("(await Promise.all([...Array(300).keys()].map(i => tool('echo', {i})))).map(r => r.i).every((i, at) => i === at)");
    assert_eq!(output.data["result"], "true");
}

// The call that a cell gave up is cancelled, and its late answer reaches nobody.
#[test]
fn an_interrupt_cancels_the_bridged_call() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    for (language, code) in [
        ("python", "tool('sleep', {'s': 600})"),
        ("python", "await tool.aio('sleep', {'s': 600})"),
        ("javascript", "await tool('sleep', {s: 600})"),
    ] {
        let cancel = Cancel::new();
        let _timer = cancel_after(&cancel, Duration::from_millis(600));
        let args = json!({"code": code, "description": "d", "language": language});
        let options = CallOptions::new().with_cancel(cancel);
        let output = lab.run.dispatch("eval", args, options).expect("a report");
        assert_eq!(
            output.data["status"], "interrupted",
            "{code}: {:#}",
            output.data
        );
    }
    assert_eq!(
        lab.python("tool('echo', {'k': 8})").data["result"],
        "{'k': 8}"
    );
    assert_eq!(
        lab.javascript("tool('echo', {k: 8})").data["result"],
        "{ k: 8 }"
    );
}

// D23: a tool that does not heed its cancel is left behind once the grace is over; the cell has its answer.
#[test]
fn a_deaf_tool_does_not_hold_the_end_of_the_cell() {
    if !both() {
        return;
    }
    let lab = Lab::with(|options| options.grace = Duration::from_millis(300));
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    lab.run.update_registry(|registry| {
        let deaf = move |_: &Call<'_>, _: Value| {
            // It ends when the test does.
            let _ = held.lock().expect("not poisoned").recv();
            Ok(Output::text("at last"))
        };
        let res = registry.insert_dynamic(spec("deaf", Tier::Read), deaf);
        res.expect("a fresh name");
    });
    for (language, code) in [
        ("python", "tool('deaf')"),
        ("javascript", "await tool('deaf')"),
    ] {
        let cancel = Cancel::new();
        let _timer = cancel_after(&cancel, Duration::from_millis(600));
        let args = json!({"code": code, "description": "d", "language": language});
        let options = CallOptions::new().with_cancel(cancel);
        let output = lab.run.dispatch("eval", args, options).expect("a report");
        assert_eq!(output.data["status"], "interrupted", "{:#}", output.data);
        assert!(
            output.text.contains("1 bridged call did not stop"),
            "{}",
            output.text
        );
    }
    // One that heeds it leaves no such note, and the kernel goes on.
    let output = lab.python("tool('echo', {'k': 8})");
    assert_eq!(output.data["result"], "{'k': 8}");
    assert!(!output.text.contains("did not stop"), "{}", output.text);
    drop(release);
}

#[test]
fn a_thread_that_outlives_its_cell_is_told() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    lab.python(
        "import threading\nseen = []\ndone = threading.Event()\ndef work():\n    try: tool('sleep', {'s': 600})\n    \
         except Exception as e: seen.append(str(e))\n    done.set()\nstarted = threading.Thread(target=work)\nstarted.start()\n\
         import time; time.sleep(0.3)",
    );
    let output = lab.python("done.wait(20), seen");
    let result = output.data["result"].as_str().expect("a result");
    assert!(
        result.starts_with("(True") && result.contains("cell"),
        "{result}"
    );
}

// R110: no socket listens or is connected during a bridged call.
#[test]
fn the_bridge_opens_no_socket() {
    if !both() {
        return;
    }
    let lab = lab(Tier::Exec);
    let code = "import os, threading\n\
        t = threading.Thread(target=lambda: tool('sleep', {'s': 0.5})); t.start()\n\
        def links():\n    for f in os.listdir('/proc/self/fd'):\n        try: yield os.readlink('/proc/self/fd/' + f)\n        \
        except OSError: pass\n\
        found = [x for x in links() if x.startswith('socket')]\nt.join()\nfound";
    assert_eq!(lab.python(code).data["result"], "[]");
}

fn lab(tier: Tier) -> Lab {
    let mut lab = Lab::new();
    let (count, most) = (std::sync::Arc::new(std::sync::Mutex::new((0, 0))), ());
    let () = most;
    let met = std::sync::Arc::new(std::sync::Condvar::new());
    let counted = std::sync::Arc::clone(&count);
    lab.run.update_registry(|registry| {
        let text = |_: &Call<'_>, args: Value| {
            let image = Image {
                mime: "image/png".to_owned(),
                bytes: b"\x89PNG".to_vec(),
            };
            Ok(Output {
                text: "the text".to_owned(),
                data: args,
                images: vec![image],
            })
        };
        // Fifty calls meet: each waits until all are there.
        let meet = move |_: &Call<'_>, args: Value| {
            let mut state = count.lock().expect("not poisoned");
            state.0 += 1;
            state.1 = state.1.max(state.0);
            if state.0 == 50 {
                met.notify_all();
            }
            let (mut state, _) = met
                .wait_timeout_while(state, Duration::from_secs(20), |state| {
                    state.0 > 0 && state.1 < 50
                })
                .expect("not poisoned");
            state.0 -= 1;
            Ok(Output {
                data: args,
                ..Output::default()
            })
        };
        let most = move |_: &Call<'_>, _: Value| {
            let mut state = counted.lock().expect("not poisoned");
            let most = std::mem::take(&mut *state).1;
            Ok(Output {
                data: json!(most),
                ..Output::default()
            })
        };
        for res in [
            registry.insert_dynamic(spec("text", Tier::Read), text),
            registry.insert_dynamic(spec("meet", Tier::Read), meet),
            registry.insert_dynamic(spec("most", Tier::Read), most),
            registry.insert_dynamic(spec("note", Tier::Write), |_: &Call<'_>, _| {
                Ok(Output::text("written"))
            }),
        ] {
            res.expect("a fresh name");
        }
    });
    if tier < Tier::Exec {
        let registry = lab.run.update_registry(|registry| registry.clone());
        lab.run = Run::builder(registry)
            .approver(AutoApprove::up_to(tier))
            .build();
    }
    lab
}
