//! Approvals as cards: the exact arguments, and a refusal for everything but a clear yes.

use super::*;
use toolbox::ask::{Card, CardKind, NobodyThere, QuestionPort, Reply};
use toolbox::cancel::Cancel;
use toolbox::tools::{Cards, Questions};

/// Answers every card the same way, and keeps them.
struct Desk {
    reply: Reply,
    cards: Mutex<Vec<Card>>,
}

impl Desk {
    fn new(reply: Reply) -> Arc<Self> {
        Arc::new(Self {
            reply,
            cards: Mutex::default(),
        })
    }
}

impl QuestionPort for Desk {
    fn ask(&self, card: &Card, _cancel: &Cancel) -> Reply {
        self.cards.lock().expect("free").push(card.clone());
        self.reply.clone()
    }
}

fn dispatch(port: Arc<dyn QuestionPort>, ran: &Ran) -> Result<Output, ToolError> {
    let policy = Policy::new(Tier::Read).asking(Arc::new(Cards::over(port)));
    let run = Run::builder(registry(ran)).approver(policy).build();
    let args = json!({"tool": "Bash", "args": {"command": "make\nrm x"}});
    run.dispatch("cell", args, CallOptions::new().approved_by_caller())
}

// D37, R126: fail closed.
#[test]
fn only_a_clear_yes_lets_a_call_run() {
    let answered = Reply::Answered {
        choices: vec![1],
        text: Some("yes".to_owned()),
    };
    for (reply, expected) in [
        (Reply::Decided { approved: true }, None),
        (Reply::Decided { approved: false }, Some(ErrorKind::Denied)),
        (Reply::Skipped, Some(ErrorKind::Denied)),
        (Reply::TimedOut, Some(ErrorKind::Denied)),
        (Reply::Unattended, Some(ErrorKind::Denied)),
        (answered, Some(ErrorKind::Denied)),
        (Reply::Cancelled, Some(ErrorKind::Cancelled)),
    ] {
        let ran = Ran::default();
        let res = dispatch(Desk::new(reply.clone()), &ran);
        assert_eq!(kind(&res), expected, "{reply:?}");
        let n_ran = ran.lock().expect("free").len();
        assert_eq!(n_ran, usize::from(expected.is_none()), "{reply:?}");
    }
}

// D37
#[test]
fn a_port_that_panics_or_is_empty_denies() {
    struct Broken;
    impl QuestionPort for Broken {
        fn ask(&self, _card: &Card, _cancel: &Cancel) -> Reply {
            panic!("the window was closed")
        }
    }
    let ran = Ran::default();
    assert_eq!(
        kind(&dispatch(Arc::new(Broken), &ran)),
        Some(ErrorKind::Denied)
    );
    assert_eq!(
        kind(&dispatch(Arc::new(NobodyThere), &ran)),
        Some(ErrorKind::Denied)
    );
    assert!(ran.lock().expect("free").is_empty());
}

// R126, D37: the card shows the arguments that run, and where the call comes from.
#[test]
fn the_card_shows_what_runs() {
    let desk = Desk::new(Reply::Decided { approved: true });
    let ran = Ran::default();
    dispatch(desk.clone(), &ran).expect("granted");
    let cards = desk.cards.lock().expect("free");
    let [card] = &cards[..] else {
        panic!("{cards:?}")
    };
    assert_eq!(card.kind, CardKind::Approval);
    let call = card.call.as_ref().expect("a call");
    assert_eq!((call.tool.as_str(), call.tier.as_str()), ("Bash", "exec"));
    assert_eq!(call.outer, ["cell"]);
    assert_eq!(*ran.lock().expect("free"), [call.args.to_string()]);
    assert_eq!(
        card.render(),
        "Approval: May Bash run?\nTool: Bash (tier exec)\nCalled from: cell\nArguments:\n  command, 2 \
         lines:\n    line 1: make\n    line 2: rm x\nType y to allow it, n to deny it. Enter = deny.\n"
    );
}

// The time and the conversation are the host's.
#[test]
fn an_approval_carries_the_hosts_settings() {
    let desk = Desk::new(Reply::Decided { approved: true });
    let timeout = Some(std::time::Duration::from_secs(7));
    let questions = Questions::new(desk.clone()).with_timeout(timeout);
    let ran = Ran::default();
    let run = Run::builder(registry(&ran))
        .approver(Cards::new(questions).in_conversation("c-1"))
        .build();
    run.dispatch("Write", json!({}), CallOptions::new())
        .expect("granted");
    let cards = desk.cards.lock().expect("free");
    assert_eq!(cards[0].timeout, timeout);
    assert_eq!(cards[0].conversation.as_deref(), Some("c-1"));
}
