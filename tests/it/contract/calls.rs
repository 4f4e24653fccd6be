//! Calls at the same time: turns, cancels and the end of a run.

use super::*;

#[derive(Debug)]
enum Then {
    Go,
    Stop,
}

/// A tool whose calls report that they arrived and wait to be let go.
struct Stage {
    arrivals: Receiver<(String, Sender<Then>)>,
    registry: Registry,
}

fn stage(spec: ToolSpec) -> Stage {
    let (sender, arrivals) = channel();
    let tool = move |call: &Call<'_>, args: Value| {
        let id = args["id"].to_string();
        let (go, wait) = channel();
        let cancelled = go.clone();
        let _guard = call.cancel().on_cancel(move || {
            let _ = cancelled.send(Then::Stop);
        });
        sender.send((id.clone(), go)).expect("the test listens");
        match wait.recv_timeout(PATIENCE) {
            Ok(Then::Go) => Ok(Output::text(id)),
            Ok(Then::Stop) => Err(ToolError::new(ErrorKind::Failed, "stopped in the middle")),
            Err(_) => Err(ToolError::new(ErrorKind::Timeout, "nobody let the call go")),
        }
    };
    let registry = Registry::builder()
        .add_dynamic(spec, tool)
        .build()
        .expect("one tool");
    Stage { arrivals, registry }
}

impl Stage {
    #[track_caller]
    fn arrival(&self) -> (String, Sender<Then>) {
        self.arrivals
            .recv_timeout(PATIENCE)
            .expect("a call arrives")
    }
}

/// Starts a call on a thread of its own.
fn begin(run: &Run, name: &str, id: u32, cancel: &Cancel) -> Receiver<Result<Output, ToolError>> {
    let (sender, receiver) = channel();
    let (handle, name, cancel) = (run.handle(), name.to_owned(), cancel.clone());
    std::thread::spawn(move || {
        let options = CallOptions::new().with_cancel(cancel);
        let _ = sender.send(handle.dispatch(&name, json!({"id": id}), options));
    });
    receiver
}

fn result(receiver: &Receiver<Result<Output, ToolError>>) -> Result<Output, ToolError> {
    receiver.recv_timeout(PATIENCE).expect("the call ends")
}

/// Waits until so many calls stand in the line.
#[track_caller]
fn await_queued(run: &RunHandle, n_queued: usize) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let calls = run.calls();
        if calls
            .iter()
            .filter(|call| call.state == CallState::Queued)
            .count()
            == n_queued
        {
            return;
        }
        assert!(Instant::now() < deadline, "{calls:?}");
        std::thread::yield_now();
    }
}

#[test]
fn calls_of_a_parallel_safe_tool_overlap() {
    let stage = stage(spec("open", Tier::Read));
    let run = run_of(stage.registry.clone());
    let cancel = Cancel::new();
    let calls: Vec<_> = (0..3).map(|id| begin(&run, "open", id, &cancel)).collect();
    // All three are inside before any is let go.
    let inside: Vec<_> = (0..3).map(|_| stage.arrival()).collect();
    inside
        .iter()
        .for_each(|(_, go)| go.send(Then::Go).expect("it waits"));
    calls.iter().for_each(|call| assert!(result(call).is_ok()));
}

// R71, R97, D43
#[test]
fn calls_of_a_tool_that_is_not_parallel_safe_take_turns_in_the_order_they_came() {
    let stage = stage(sequential("debug"));
    let run = run_of(stage.registry.clone());
    let cancel = Cancel::new();
    let mut calls = vec![begin(&run, "debug", 0, &cancel)];
    let mut inside = vec![stage.arrival()];
    for id in 1..4 {
        calls.push(begin(&run, "debug", id, &cancel));
        await_queued(&run.handle(), id as usize);
    }
    for id in 0..4 {
        let (arrived, go) = inside.pop().expect("one is inside");
        assert_eq!(arrived, id.to_string());
        assert!(stage.arrivals.try_recv().is_err(), "nobody else is inside");
        go.send(Then::Go).expect("it waits");
        if id < 3 {
            inside.push(stage.arrival());
        }
    }
    calls.iter().for_each(|call| assert!(result(call).is_ok()));
    assert!(run.calls().is_empty());
}

#[test]
fn a_queued_call_can_be_cancelled_and_the_next_one_gets_the_turn() {
    let stage = stage(sequential("debug"));
    let run = run_of(stage.registry.clone());
    let (keep, drop_it) = (Cancel::new(), Cancel::new());
    let first = begin(&run, "debug", 0, &keep);
    let (_, go) = stage.arrival();
    let second = begin(&run, "debug", 1, &drop_it);
    await_queued(&run.handle(), 1);
    let third = begin(&run, "debug", 2, &keep);
    await_queued(&run.handle(), 2);
    drop_it.cancel();
    assert_eq!(
        result(&second).expect_err("cancelled").kind(),
        ErrorKind::Cancelled
    );
    go.send(Then::Go).expect("it waits");
    assert!(result(&first).is_ok());
    let (arrived, go) = stage.arrival();
    assert_eq!(arrived, "2");
    go.send(Then::Go).expect("it waits");
    assert!(result(&third).is_ok());
}

#[test]
fn cancelling_the_calls_of_a_run_ends_them_and_leaves_the_run() {
    let stage = stage(spec("open", Tier::Read));
    let run = run_of(stage.registry.clone());
    let cancel = Cancel::new();
    let calls: Vec<_> = (0..2).map(|id| begin(&run, "open", id, &cancel)).collect();
    let inside = [stage.arrival(), stage.arrival()];
    run.cancel_calls();
    for call in &calls {
        check_error(
            result(call),
            expect!["cancelled: the call was cancelled: stopped in the middle"],
        );
    }
    drop(inside);
    assert!(!cancel.is_cancelled(), "the caller's token is its own");
    let next = begin(&run, "open", 2, &cancel);
    stage.arrival().1.send(Then::Go).expect("it waits");
    assert!(result(&next).is_ok());
}

#[test]
fn a_call_with_a_cancelled_token_does_not_run() {
    let count = Arc::default();
    let run = run_of(counter("tool", Tier::Read, &count));
    let cancel = Cancel::new();
    cancel.cancel();
    let res = run.dispatch("tool", json!({}), CallOptions::new().with_cancel(cancel));
    assert_eq!(res.expect_err("cancelled").kind(), ErrorKind::Cancelled);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

// R3: the end of a run lets go of what its tools own.
#[test]
fn a_dropped_run_cancels_its_calls_and_drops_its_tools() {
    let resource: Arc<str> = Arc::from("");
    let stage = stage(spec("open", Tier::Read));
    let mut registry = stage.registry.clone();
    registry
        .insert(Echo(Arc::clone(&resource)))
        .expect("a new name");
    let run = run_of(registry);
    let handle = run.handle();
    let running = begin(&run, "open", 0, &Cancel::new());
    let (_, _go) = stage.arrival();
    drop(run);
    // The drop has waited for the call.
    assert_eq!(handle.calls(), []);
    assert_eq!(
        result(&running).expect_err("cancelled").kind(),
        ErrorKind::Cancelled
    );
    assert_eq!(
        Arc::strong_count(&resource),
        1,
        "the tool is gone although a handle lives"
    );
    let late = handle.dispatch("open", json!({"id": 1}), CallOptions::new());
    check_error(late, expect!["cancelled: the run has ended"]);
}

#[test]
fn the_drop_of_a_run_waits_no_longer_than_its_bound() {
    let (release, held) = channel::<()>();
    let held = Mutex::new(held);
    let (entered, inside) = channel();
    let entered = Mutex::new(entered);
    let deaf = move |_call: &Call<'_>, _args: Value| {
        let _ = entered.lock().expect("free").send(());
        let _ = held.lock().expect("free").recv_timeout(PATIENCE);
        Ok(Output::default())
    };
    let registry = Registry::builder()
        .add_dynamic(spec("deaf", Tier::Read), deaf)
        .build()
        .expect("one");
    let run = Run::builder(registry)
        .drain(Duration::from_millis(50))
        .build();
    let running = begin(&run, "deaf", 0, &Cancel::new());
    inside.recv_timeout(PATIENCE).expect("it runs");
    drop(run);
    // It came back although the call still runs; only now may that one end.
    assert!(running.try_recv().is_err());
    release.send(()).expect("it waits");
    assert!(result(&running).is_ok());
}

// D24: bridged calls of one cell run in parallel.
#[test]
fn a_call_can_bridge_from_several_threads_at_once() {
    let stage = stage(spec("open", Tier::Read));
    let mut registry = stage.registry.clone();
    let cell = |call: &Call<'_>, _args: Value| {
        let texts: Vec<String> = std::thread::scope(|scope| {
            let bridge = |id: u32| call.dispatch("open", json!({"id": id}));
            let threads: Vec<_> = (0..2).map(|id| scope.spawn(move || bridge(id))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("no panic").expect("a call").text)
                .collect()
        });
        Ok(Output::text(texts.join(" ")))
    };
    registry
        .insert_dynamic(sequential("cell"), cell)
        .expect("a new name");
    let run = run_of(registry);
    let res = begin(&run, "cell", 0, &Cancel::new());
    let inside = [stage.arrival(), stage.arrival()];
    assert_eq!(run.calls().len(), 3);
    inside
        .iter()
        .for_each(|(_, go)| go.send(Then::Go).expect("it waits"));
    assert_eq!(result(&res).expect("a call").text, "0 1");
}
