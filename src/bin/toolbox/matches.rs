//! What `ast-grep --json` prints: one object whose matches, a line each, are written as they are found.
//!
//! Thousands of matches are never held at once, and a reader that has enough (`| head`) ends the search.

use std::io::{self, BufWriter, Stdout, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolbox::tools::OnMatch;

use crate::output::{Step, written};

/// The object while it is being written.
pub(crate) struct Listing(Arc<Mutex<Written>>);

struct Written {
    out: BufWriter<Stdout>,
    n_matches: usize,
    /// What came of the writes so far.
    res: io::Result<()>,
}

impl Listing {
    /// Nothing is written before the first match, so that an error may stand alone.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Written {
            out: BufWriter::with_capacity(1 << 16, io::stdout()),
            n_matches: 0,
            res: Ok(()),
        })))
    }

    /// Returns what puts the matches into the listing.
    pub(crate) fn on_match(&self) -> OnMatch {
        let inner = Arc::clone(&self.0);
        OnMatch::new(move |found| {
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.add(found);
            match inner.res {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })
    }

    /// Writes the rest of the answer behind the matches.
    pub(crate) fn close(self, data: &Value) -> Step {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.end(data);
        written(std::mem::replace(&mut inner.res, Ok(())))
    }
}

impl Written {
    fn add(&mut self, found: &[u8]) {
        let before: &[u8] = match self.n_matches {
            0 => b"{\n  \"matches\": [\n    ",
            _ => b",\n    ",
        };
        self.n_matches += 1;
        self.write(&[before, found]);
    }

    fn end(&mut self, data: &Value) {
        let before: &[u8] = match self.n_matches {
            0 => b"{\n  \"matches\": [],\n",
            _ => b"\n  ],\n",
        };
        let mut rest = data.clone();
        if let Some(fields) = rest.as_object_mut() {
            fields.remove("matches");
        }
        let rest = format!("{rest:#}");
        let rest = rest.strip_prefix("{\n").unwrap_or(&rest);
        self.write(&[before, rest.as_bytes(), b"\n"]);
        if self.res.is_ok() {
            self.res = self.out.flush();
        }
    }

    fn write(&mut self, parts: &[&[u8]]) {
        for part in parts {
            if self.res.is_ok() {
                self.res = self.out.write_all(part);
            }
        }
    }
}
