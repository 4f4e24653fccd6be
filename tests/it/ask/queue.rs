//! The line in front of a medium that shows one card at a time.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use toolbox::ask::{OneAtATime, QuestionPort};
use toolbox::cancel::Cancel;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// Hands each card to the test, which answers it.
struct Stage(Sender<(Card, Sender<Reply>)>);

impl QuestionPort for Stage {
    fn ask(&self, card: &Card, _cancel: &Cancel) -> Reply {
        let (answer, wait) = channel();
        self.0
            .send((card.clone(), answer))
            .expect("the test listens");
        wait.recv_timeout(PATIENCE).expect("the test answers")
    }
}

type Shown = Receiver<(Card, Sender<Reply>)>;

fn stage() -> (Arc<OneAtATime<Stage>>, Shown) {
    let (sender, shown) = channel();
    (Arc::new(OneAtATime::new(Stage(sender))), shown)
}

fn named(name: &str, timeout: Option<Duration>) -> Card {
    Card {
        timeout,
        allow_free_text: true,
        ..Card::question(name)
    }
}

/// Asks on a thread of its own.
fn begin(port: &Arc<OneAtATime<Stage>>, card: Card, cancel: &Cancel) -> Receiver<Reply> {
    let (sender, receiver) = channel();
    let (port, cancel) = (Arc::clone(port), cancel.clone());
    std::thread::spawn(move || sender.send(port.ask(&card, &cancel)));
    receiver
}

#[track_caller]
fn next(shown: &Shown) -> (Card, Sender<Reply>) {
    shown.recv_timeout(PATIENCE).expect("a card is shown")
}

#[track_caller]
fn await_length(port: &OneAtATime<Stage>, length: usize) {
    let deadline = Instant::now() + PATIENCE;
    while port.len() != length {
        assert!(Instant::now() < deadline, "{} cards", port.len());
        std::thread::yield_now();
    }
}

// R117: questions asked at the same time come one after the other.
#[test]
fn cards_are_shown_one_at_a_time_in_order() {
    let (port, shown) = stage();
    let cancel = Cancel::new();
    let first = begin(&port, named("1", None), &cancel);
    let (card, answer) = next(&shown);
    assert_eq!(card.question, "1");
    let second = begin(&port, named("2", None), &cancel);
    await_length(&port, 2);
    let third = begin(&port, named("3", None), &cancel);
    await_length(&port, 3);
    assert!(shown.try_recv().is_err(), "one is on the screen");
    answer.send(typed("a")).expect("it waits");
    assert_eq!(first.recv_timeout(PATIENCE), Ok(typed("a")));
    for (name, receiver) in [("2", second), ("3", third)] {
        let (card, answer) = next(&shown);
        assert_eq!(card.question, name);
        answer.send(Reply::Skipped).expect("it waits");
        assert_eq!(receiver.recv_timeout(PATIENCE), Ok(Reply::Skipped));
    }
    assert!(port.is_empty());
}

// R117, R125: the time runs in the line too, and nobody sees what came too late.
#[test]
fn a_card_that_is_late_or_cancelled_in_the_line_is_never_shown() {
    let (port, shown) = stage();
    let cancel = Cancel::new();
    let first = begin(&port, named("first", None), &cancel);
    let (_, answer) = next(&shown);
    let impatient = begin(
        &port,
        named("late", Some(Duration::from_millis(50))),
        &cancel,
    );
    assert_eq!(impatient.recv_timeout(PATIENCE), Ok(Reply::TimedOut));
    let withdrawn = Cancel::new();
    let cancelled = begin(&port, named("withdrawn", None), &withdrawn);
    await_length(&port, 2);
    withdrawn.cancel();
    assert_eq!(cancelled.recv_timeout(PATIENCE), Ok(Reply::Cancelled));
    let last = begin(&port, named("last", Some(PATIENCE)), &cancel);
    await_length(&port, 2);
    answer.send(Reply::Skipped).expect("it waits");
    assert_eq!(first.recv_timeout(PATIENCE), Ok(Reply::Skipped));
    let (card, answer) = next(&shown);
    assert_eq!(card.question, "last");
    assert!(
        card.timeout.expect("it has one") < PATIENCE,
        "what is left of it"
    );
    answer.send(typed("x")).expect("it waits");
    assert_eq!(last.recv_timeout(PATIENCE), Ok(typed("x")));
    // A card that is cancelled before it is asked is not shown either.
    assert_eq!(
        port.ask(&named("never", None), &withdrawn),
        Reply::Cancelled
    );
    assert!(shown.try_recv().is_err());
}

// A port that breaks does not hold up those who wait behind it.
#[test]
fn a_panic_of_the_port_lets_the_next_card_in() {
    struct Broken;
    impl QuestionPort for Broken {
        fn ask(&self, card: &Card, _cancel: &Cancel) -> Reply {
            assert_ne!(card.question, "break");
            Reply::Skipped
        }
    }
    let port = OneAtATime::new(Broken);
    let cancel = Cancel::new();
    let broken = std::panic::AssertUnwindSafe(|| port.ask(&named("break", None), &cancel));
    assert!(std::panic::catch_unwind(broken).is_err());
    assert_eq!(port.ask(&named("next", None), &cancel), Reply::Skipped);
}
