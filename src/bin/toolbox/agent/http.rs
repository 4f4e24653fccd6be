//! The agents over HTTP (R159 to R168): connections, their limits, and the end of the server.
//!
//! One thread waits for all connections; what touches the disk runs on threads of its own. Nothing that a
//! client does or leaves undone holds others up: heads and bodies have a size and a time, and connections
//! have a number.

mod api;
mod enveloped;

use std::convert::Infallible;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use toolbox::agents::AgentStore;
use toolbox::tool::{ErrorKind, ToolError};

use self::api::{Api, Body};
use self::enveloped::Enveloped;
use super::Serve;
use crate::args::Global;
use crate::host::Host;
use crate::output::{Console, Step};

/// Connections at a time; the next ones wait to be accepted.
const CONNECTIONS: usize = 256;

/// Bytes of the head of a request.
const HEAD_BYTES: usize = 16 << 10;

/// How long the head of a request may take, the wait for the next one on a kept connection included.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// How long requests under way may take once the server ends.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until SIGINT or SIGTERM.
pub(super) fn serve(console: &Console, global: &Global, store: AgentStore, args: &Serve) -> Step {
    if !args.addr.ip().is_loopback() && !args.allow_remote {
        return Err(console.misuse_with_hint(
            &format!("{} is not loopback", args.addr),
            "the connection is not encrypted: put a proxy with TLS in front, or add --allow-remote",
        ));
    }
    let token = token(console, args.token_file.as_deref())?;
    let host = Host::open(console, global)?;
    let api = Arc::new(Api::new(store, &token, host.registry()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|err| failed(console, "cannot start the server", &err))?;
    let res = runtime.block_on(async {
        let listener = TcpListener::bind(args.addr).await?;
        Ok::<_, io::Error>((listener.local_addr()?, listener))
    });
    let (addr, listener) =
        res.map_err(|err| failed(console, &format!("cannot listen on {}", args.addr), &err))?;
    console.print(&format!("listening on http://{addr}"))?;
    runtime
        .block_on(accept(listener, api))
        .map_err(|err| failed(console, "the server failed", &err))?;
    // A request that hangs in the disk must not hold up the end.
    runtime.shutdown_timeout(GRACE);
    Ok(())
}

async fn accept(listener: TcpListener, api: Arc<Api>) -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = tokio::select! {
            // A place is taken before a connection is: what does not fit waits with the kernel.
            (place, accepted) = async { (place.await, listener.accept().await) } => (place, accepted),
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            _ = hang_up.recv() => break,
        };
        let (Ok(place), Ok((stream, _))) = accepted else {
            // A client that hung up at once, or too many open files: neither ends the server. The pause
            // keeps the second from becoming a busy loop.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let api = Arc::clone(&api);
        let service = service_fn(move |request| respond(Arc::clone(&api), request));
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(Enveloped::new(TokioIo::new(stream)), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that breaks the protocol or its connection has lost only its own request.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    // Connections without a request end at once, the others after their answer.
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    Ok(())
}

async fn respond(api: Arc<Api>, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    Ok(api.respond(request).await)
}

/// Reads the token that clients must send; it is no argument, because everybody sees those.
fn token(console: &Console, file: Option<&Path>) -> Step<String> {
    const VARIABLE: &str = "TOOLBOX_AGENT_TOKEN";
    let (text, place) = match file {
        Some(file) => {
            let mut text = String::new();
            std::fs::File::open(file)
                .and_then(|open| open.take(4096).read_to_string(&mut text))
                .map_err(|err| {
                    console.misuse(&format!(
                        "cannot read the token '{}': {err}",
                        file.display()
                    ))
                })?;
            (text, file.display().to_string())
        }
        None => (
            std::env::var(VARIABLE).map_err(|_| {
                console.misuse_with_hint(
                    "no token: whoever may use the API must be told apart",
                    &format!("name a file with --token-file, or set {VARIABLE}"),
                )
            })?,
            VARIABLE.to_owned(),
        ),
    };
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    if token.len() < 8 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(console.misuse(&format!(
            "{place} holds no token: 8 or more printable characters without spaces"
        )));
    }
    Ok(token)
}

fn failed(console: &Console, what: &str, err: &io::Error) -> crate::output::Ending {
    console.fail(&ToolError::new(ErrorKind::Failed, format!("{what}: {err}")))
}
