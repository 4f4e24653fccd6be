//! Starting an adapter and getting a stream to it: over pipes, by being called, or by calling.

use std::io::{self, PipeReader, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cancel::Cancel;
use crate::child::{Child, Isolation, Processes, Program, Stderr, Stream};
use crate::dap::error::DapError;

/// Bytes of an adapter's standard error that are kept.
const STDERR_BYTES: usize = 16 * 1024;

/// How often the wait for a call looks whether the adapter is still there.
const GLANCE: Duration = Duration::from_millis(100);

/// How an adapter is reached.
pub(crate) enum Reach {
    /// It is started and speaks over its standard input and output.
    Stdio(Program),
    /// It is started and calls us at the address behind this flag.
    ReverseDial { program: Program, flag: String },
    /// It listens there.
    Connect { host: String, port: u16 },
}

/// A stream to an adapter.
pub(crate) struct Link {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) writer: Box<dyn Write + Send>,
    pub(crate) child: Option<Child>,
    pub(crate) socket: Option<TcpStream>,
    /// What the adapter writes besides the protocol: its standard output and error in one.
    pub(crate) beside: Option<PipeReader>,
}

impl Link {
    /// Reaches an adapter.
    pub(crate) fn open(
        processes: &Processes,
        reach: Reach,
        wait: Duration,
        cancel: &Cancel,
    ) -> Result<Self, DapError> {
        match reach {
            Reach::Stdio(program) => Self::stdio(processes, &program),
            Reach::ReverseDial { program, flag } => {
                Self::reverse(processes, program, &flag, wait, cancel)
            }
            Reach::Connect { host, port } => Self::connect(&host, port, wait),
        }
    }

    fn stdio(processes: &Processes, program: &Program) -> Result<Self, DapError> {
        let doing = format!("start the adapter `{program}`");
        let program = program
            .clone()
            .isolation(Isolation::Session)
            .stdin(Stream::Piped)
            .stdout(Stream::Piped)
            .stderr(Stderr::Tail(STDERR_BYTES));
        let mut child = processes.spawn(&program).map_err(DapError::io(doing))?;
        let streams = child.take_stdin().zip(child.take_stdout());
        let (writer, reader) = streams.expect("both streams were asked for above");
        Ok(Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
            child: Some(child),
            socket: None,
            beside: None,
        })
    }

    fn reverse(
        processes: &Processes,
        program: Program,
        flag: &str,
        wait: Duration,
        cancel: &Cancel,
    ) -> Result<Self, DapError> {
        let listen = || {
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) =
            listen().map_err(DapError::io("listen for the adapter's call"))?;
        let program = program
            .args([format!("{flag}{address}")])
            .isolation(Isolation::Session)
            .stdout(Stream::Piped)
            .stderr(Stderr::WithStdout);
        let doing = format!("start the adapter `{program}`");
        let mut child = processes.spawn(&program).map_err(DapError::io(doing))?;
        let beside = child.take_stdout();
        let socket = accept(&listener, &child, wait, cancel).map_err(|error| match error {
            // What it wrote before it ended says why.
            DapError::Died { during, words, .. } => DapError::Died {
                during,
                words,
                said: beside.as_ref().map(left_over).unwrap_or_default(),
            },
            other => other,
        })?;
        Self::over(socket, Some(child), beside)
    }

    fn connect(host: &str, port: u16, wait: Duration) -> Result<Self, DapError> {
        let doing = format!("connect to a debuggee at {host}:{port}");
        let connect = || {
            let mut refusal = io::Error::from(io::ErrorKind::NotFound);
            for address in (host, port).to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, wait) {
                    Ok(socket) => return Ok(socket),
                    Err(error) => refusal = error,
                }
            }
            Err(refusal)
        };
        let socket = connect().map_err(DapError::io(doing))?;
        Self::over(socket, None, None)
    }

    fn over(
        socket: TcpStream,
        child: Option<Child>,
        beside: Option<PipeReader>,
    ) -> Result<Self, DapError> {
        let streams = || {
            // Requests are small and waited for.
            socket.set_nodelay(true)?;
            Ok((socket.try_clone()?, socket.try_clone()?))
        };
        let (reader, writer) = streams().map_err(DapError::io("use the adapter's stream"))?;
        Ok(Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
            child,
            socket: Some(socket),
            beside,
        })
    }
}

/// Waits for the adapter's call, its end, the timeout or the cancel.
fn accept(
    listener: &TcpListener,
    child: &Child,
    wait: Duration,
    cancel: &Cancel,
) -> Result<TcpStream, DapError> {
    let during = || "starting it".to_owned();
    let deadline = Instant::now() + wait;
    let glance = Timespec::try_from(GLANCE).unwrap_or_default();
    loop {
        match listener.accept() {
            Ok((socket, _)) => {
                let blocking = socket.set_nonblocking(false);
                return blocking
                    .map(|()| socket)
                    .map_err(DapError::io("use the adapter's stream"));
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(DapError::io("take the adapter's call")(error)),
        }
        if let Some(exit) = child.exit() {
            return Err(DapError::Died {
                during: during(),
                words: exit.to_string(),
                said: String::new(),
            });
        }
        if cancel.is_cancelled() {
            return Err(DapError::Cancelled);
        }
        if Instant::now() >= deadline {
            return Err(DapError::Timeout {
                during: during(),
                after: wait,
                said: String::new(),
            });
        }
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        // Whatever it says, the next round looks.
        let _ = poll(&mut fds, Some(&glance));
    }
}

/// What an ended adapter left in its pipe.
fn left_over(pipe: &PipeReader) -> String {
    let mut bytes = Vec::new();
    // Something it started may hold the pipe open, so nothing is waited for.
    if rustix::io::ioctl_fionbio(pipe, true).is_ok() {
        let mut pipe: &PipeReader = pipe;
        let _ = (&mut pipe)
            .take(STDERR_BYTES as u64)
            .read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
