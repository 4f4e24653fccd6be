//! Asking a server for the diagnostics of its whole project.
//!
//! The protocol lets a server hold the answer back until something changes, and those that offer this do:
//! what they find comes in parts meanwhile, and the end of the work that they announce for the request is
//! the sign that they have looked at everything.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::lsp::client::{ReplyError, Server, Shared, message};
use crate::lsp::error::LspError;
use crate::lsp::published::{Diagnostic, Origin};
use crate::lsp::uri;

/// The answer itself, or its last part, follows the announced end in the same moment.
const QUIET: Duration = Duration::from_millis(50);

/// What the tokens of a survey begin with; the number of its request follows.
const TOKEN: &str = "toolbox/survey/";

/// What is appended to the token under which parts of the answer come.
const PART: &str = "/part";

impl Server {
    /// Tells whether the server can be asked about the whole project.
    pub fn surveys(&self) -> bool {
        self.row().pull
            && self.look(|state| {
                let options = state.provider("diagnosticProvider", "textDocument/diagnostic");
                options.is_some_and(|options| options["workspaceDiagnostics"] == json!(true))
            })
    }

    /// Asks for the diagnostics of the whole project; they join what the server published. Tells whether
    /// it has looked at everything by `deadline`.
    pub fn survey(&self, deadline: Instant, cancel: &Cancel) -> Result<bool, LspError> {
        let shared = &self.shared;
        let waiting = shared.pending.begin();
        let id = waiting.id();
        let token = format!("{TOKEN}{id}");
        let (mut params, previous) = shared.update(|state| {
            state.surveys.insert(id, false);
            let options = state.provider("diagnosticProvider", "textDocument/diagnostic");
            let identifier = options.unwrap_or_default()["identifier"].take();
            let known = state.published.iter().filter_map(|(path, said)| {
                let id = said.result_id.as_ref()?;
                Some(json!({"uri": uri::from_path(path), "value": id}))
            });
            let previous: Vec<Value> = known.collect();
            (json!({ "identifier": identifier }), previous)
        });
        if params["identifier"].is_null() {
            params = json!({});
        }
        params["previousResultIds"] = json!(previous);
        params["workDoneToken"] = json!(token);
        params["partialResultToken"] = json!(format!("{token}{PART}"));
        let mut reply = None;
        let asked = shared.send(&message(Some(id), "workspace/diagnostic", params));
        let sign = asked.map(|()| {
            self.wait(deadline, cancel, |state| {
                reply = waiting.reply().try_recv().ok();
                let is_over = state.surveys.get(&id) == Some(&true);
                (reply.is_some() || is_over || state.gone().is_some()).then_some(())
            })
        });
        let is_over = matches!(sign, Ok(Some(())));
        if is_over && reply.is_none() {
            self.wait(Instant::now() + QUIET, cancel, |_| {
                reply = waiting.reply().try_recv().ok();
                reply.as_ref().map(|_| ())
            });
        }
        shared.update(|state| state.surveys.remove(&id));
        sign?;
        match reply {
            Some(Ok(report)) => {
                shared.take_survey(&report["items"]);
                Ok(true)
            }
            Some(Err(ReplyError::Refused(error))) => Err(LspError::Refused {
                server: shared.name.clone(),
                method: "workspace/diagnostic".to_owned(),
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or("no message").to_owned(),
                data: error.get("data").cloned(),
            }),
            Some(Err(ReplyError::Gone(why))) => Err(shared.gone_error(why)),
            None => {
                shared.withdraw(id);
                match self.gone() {
                    Some(why) => Err(shared.gone_error(why)),
                    None => Ok(is_over),
                }
            }
        }
    }
}

impl Shared {
    /// Takes progress that belongs to a survey; tells whether it did.
    pub(super) fn on_survey(&self, params: &Value) -> bool {
        let Some(token) = params["token"]
            .as_str()
            .and_then(|it| it.strip_prefix(TOKEN))
        else {
            return false;
        };
        match token.strip_suffix(PART) {
            Some(id) if self.is_surveying(id) => self.take_survey(&params["value"]["items"]),
            // A part that comes after the survey was given up may speak of an old text.
            Some(_) => {}
            None if params["value"]["kind"] == "end" => self.update(|state| {
                let survey = token
                    .parse()
                    .ok()
                    .and_then(|id: i64| state.surveys.get_mut(&id));
                if let Some(is_over) = survey {
                    *is_over = true;
                }
            }),
            None => {}
        }
        true
    }

    fn is_surveying(&self, id: &str) -> bool {
        let id: Option<i64> = id.parse().ok();
        id.is_some_and(|id| self.lock().surveys.contains_key(&id))
    }

    /// Takes what a survey says of files.
    fn take_survey(&self, reports: &Value) {
        let documents = self.documents();
        self.update(|state| {
            for report in reports.as_array().into_iter().flatten() {
                let Some(path) = report["uri"].as_str().and_then(uri::to_path) else {
                    continue;
                };
                if report["kind"] == "unchanged" {
                    continue;
                }
                let version = report["version"].as_i64();
                let result_id = report["resultId"].as_str().map(str::to_owned);
                let items = Diagnostic::read_all(&report["items"]);
                let published = &mut state.published;
                published.say(path.clone(), Origin::Pulled, version, result_id, items);
                if documents.get(&path).is_none() {
                    published.forget_clean(&path);
                }
            }
        });
    }
}
