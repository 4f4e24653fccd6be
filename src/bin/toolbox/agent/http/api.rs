//! Requests and answers of the agents' API.
//!
//! Paths and bodies are those of the requirements; every error has the envelope of D30.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use toolbox::agents::{AgentError, AgentFields, AgentStore, parse_body};
use toolbox::registry::Registry;
use toolbox::toolset::Toolset;

use crate::agent::BODY_BYTES;

/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);

const BASE: &str = "/api/v1/cloud/agents";

/// The body of an answer.
pub(super) type Body = Full<Bytes>;

/// What answers requests.
pub(super) struct Api {
    store: AgentStore,
    /// Only its hash: comparing hashes takes the same time whatever was sent.
    token: [u8; 32],
    registry: Registry,
}

/// A request that is refused, or that failed.
struct Refusal {
    status: StatusCode,
    kind: &'static str,
    message: String,
    allow: Option<&'static str>,
}

/// What a request asks for, without its body.
enum Route {
    Agents,
    Agent(String),
    Sessions(String),
    Session(String, String),
    SessionTools(String, String),
}

impl Api {
    pub(super) fn new(store: AgentStore, token: &str, registry: Registry) -> Self {
        Self {
            store,
            token: Sha256::digest(token).into(),
            registry,
        }
    }

    /// Answers a request, whatever it is.
    pub(super) async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        match self.answer(request).await {
            Ok(body) => response(StatusCode::OK, &body),
            Err(refusal) => refusal.response(),
        }
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Value, Refusal> {
        // Nothing is told to whoever does not have the token, not even which paths exist.
        self.authenticate(request.headers().get(AUTHORIZATION))?;
        let route = Route::of(request.uri().path())?;
        let method = request.method().clone();
        route.check_method(&method)?;
        let query = request.uri().query().unwrap_or_default().to_owned();
        let body = read(request).await?;
        // The store waits for locks and disks, and one thread serves all connections.
        tokio::task::spawn_blocking(move || self.act(&method, &route, &query, &body))
            .await
            .unwrap_or_else(|_| Err(Refusal::internal("the request failed from a defect")))
    }

    fn authenticate(&self, header: Option<&HeaderValue>) -> Result<(), Refusal> {
        let sent = header
            .and_then(|header| header.as_bytes().split_first_chunk::<7>())
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "))
            .map(|(_, token)| Sha256::digest(token.trim_ascii()));
        match sent {
            Some(sent) if bool::from(sent.as_slice().ct_eq(&self.token)) => Ok(()),
            _ => Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                "authentication_error",
                "send the token of this server as `Authorization: Bearer TOKEN`",
            )),
        }
    }

    fn act(
        &self,
        method: &Method,
        route: &Route,
        query: &str,
        body: &[u8],
    ) -> Result<Value, Refusal> {
        match route {
            Route::Agents if *method == Method::POST => {
                let fields = AgentFields::from_body(&json_of(body)?)?;
                Ok(json!(self.store.create(fields)?))
            }
            Route::Agents => Ok(json!({ "data": self.store.list()? })),
            Route::Agent(id) if *method == Method::PUT => {
                // An agent that is not there is said before what is wrong with the body.
                self.store.get(id)?;
                let (version, fields) = AgentFields::from_replacement(&json_of(body)?)?;
                Ok(json!(self.store.replace(id, version, fields)?))
            }
            Route::Agent(id) => Ok(json!(match version_of(query)? {
                Some(version) => self.store.version(id, version)?,
                None => self.store.get(id)?,
            })),
            Route::Sessions(id) => {
                self.store.get(id)?;
                session_body(body)?;
                Ok(json!(self.store.open_session(id)?))
            }
            Route::Session(id, session) => Ok(json!(self.store.session(id, session)?)),
            Route::SessionTools(id, session) => self.tools(id, session),
        }
    }

    /// The tools of a session: those of the version that it is pinned to (R167).
    fn tools(&self, id: &str, session: &str) -> Result<Value, Refusal> {
        let session = self.store.session(id, session)?;
        let agent = self.store.version(id, session.agent_version)?;
        let toolset = Toolset::parse(agent.tools.as_ref())
            .map_err(|err| Refusal::internal(&format!("the stored tools are refused: {err}")))?;
        let registry = toolset.apply(self.registry.clone());
        let rows: Vec<Value> = registry
            .specs()
            .iter()
            .map(|spec| {
                json!({
                    "name": spec.name,
                    "tier": spec.tier,
                    "description": spec.description,
                    "schema": spec.schema,
                })
            })
            .collect();
        Ok(json!({ "tools": rows }))
    }
}

impl Route {
    fn of(path: &str) -> Result<Self, Refusal> {
        let unknown = || {
            Refusal::new(
                StatusCode::NOT_FOUND,
                "not_found_error",
                &format!("no such path '{path}': the agents are at {BASE}"),
            )
        };
        let rest = path.strip_prefix(BASE).ok_or_else(unknown)?;
        let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
        let owned = |part: &&str| (*part).to_owned();
        match parts.as_slice() {
            [""] => Ok(Self::Agents),
            ["", id] => Ok(Self::Agent(owned(id))),
            ["", id, "sessions"] => Ok(Self::Sessions(owned(id))),
            ["", id, "sessions", session] => Ok(Self::Session(owned(id), owned(session))),
            ["", id, "sessions", session, "tools"] => {
                Ok(Self::SessionTools(owned(id), owned(session)))
            }
            _ => Err(unknown()),
        }
    }

    fn check_method(&self, method: &Method) -> Result<(), Refusal> {
        let (allowed, names): (&[Method], _) = match self {
            Self::Agents => (&[Method::GET, Method::POST], "GET, POST"),
            Self::Agent(_) => (&[Method::GET, Method::PUT], "GET, PUT"),
            Self::Sessions(_) => (&[Method::POST], "POST"),
            Self::Session(..) | Self::SessionTools(..) => (&[Method::GET], "GET"),
        };
        if allowed.contains(method) {
            return Ok(());
        }
        let message = format!("{method} is not allowed here: use {names}");
        let mut refusal = Refusal::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "invalid_request_error",
            &message,
        );
        refusal.allow = Some(names);
        Err(refusal)
    }
}

impl Refusal {
    fn new(status: StatusCode, kind: &'static str, message: &str) -> Self {
        Self {
            status,
            kind,
            message: message.to_owned(),
            allow: None,
        }
    }

    fn invalid(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    fn internal(message: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "api_error", message)
    }

    fn response(self) -> Response<Body> {
        let envelope = json!({
            "type": "error",
            "error": { "type": self.kind, "message": self.message },
        });
        let mut response = response(self.status, &envelope);
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if matches!(
            self.status,
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT | StatusCode::UNAUTHORIZED
        ) {
            // What is left of the body is not read, so nothing can follow it on this connection.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl From<AgentError> for Refusal {
    fn from(err: AgentError) -> Self {
        let message = err.to_string();
        match err {
            AgentError::Invalid(_) => Self::invalid(&message),
            AgentError::UnknownAgent(_)
            | AgentError::UnknownVersion { .. }
            | AgentError::UnknownSession(_) => {
                Self::new(StatusCode::NOT_FOUND, "not_found_error", &message)
            }
            AgentError::Conflict { .. } => {
                Self::new(StatusCode::CONFLICT, "conflict_error", &message)
            }
            // The folders of the server are none of the client's business.
            _ => Self::internal("the agents cannot be read or written"),
        }
    }
}

async fn read(request: Request<Incoming>) -> Result<Bytes, Refusal> {
    let body = Limited::new(request.into_body(), BODY_BYTES).collect();
    let collected = tokio::time::timeout(BODY_TIME, body).await.map_err(|_| {
        let message = format!("the body took longer than {} s", BODY_TIME.as_secs());
        Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            "invalid_request_error",
            &message,
        )
    })?;
    match collected {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(err) if is_over_limit(&*err) => {
            let message = format!("the body is over the limit of {BODY_BYTES} bytes");
            Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "invalid_request_error",
                &message,
            ))
        }
        Err(_) => Err(Refusal::invalid("the body broke off")),
    }
}

fn is_over_limit(err: &(dyn Error + Send + Sync + 'static)) -> bool {
    err.is::<LengthLimitError>()
}

fn json_of(body: &[u8]) -> Result<Value, Refusal> {
    parse_body(body).map_err(|err| Refusal::invalid(&format!("in the body: {err}")))
}

/// A session takes nothing of its own: its tools are those of its agent (R171).
fn session_body(body: &[u8]) -> Result<(), Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(());
    }
    match json_of(body)? {
        Value::Object(map) => match map.keys().next() {
            None => Ok(()),
            Some(_) if map.contains_key("tools") => Err(Refusal::invalid(
                "tools cannot be set for a session: they belong to the agent",
            )),
            Some(key) => Err(Refusal::invalid(&format!(
                "unknown field '{key}': a session takes none"
            ))),
        },
        _ => Err(Refusal::invalid("the body must be a JSON object")),
    }
}

fn version_of(query: &str) -> Result<Option<u64>, Refusal> {
    let mut version = None;
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match (&*key, value.parse()) {
            ("version", _) if version.is_some() => {
                return Err(Refusal::invalid("version is given twice"));
            }
            ("version", Ok(number)) => version = Some(number),
            ("version", Err(_)) => {
                return Err(Refusal::invalid(&format!(
                    "version must be a whole number, not '{value}'"
                )));
            }
            _ => {
                return Err(Refusal::invalid(&format!(
                    "unknown parameter '{key}': expected version"
                )));
            }
        }
    }
    Ok(version)
}

fn response(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
