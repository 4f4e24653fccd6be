//! The halves of the protocol that run inside the interpreters, and how they get there.
//!
//! Nothing is installed: the interpreter reads the source of its half from the frame pipe before it does
//! anything else, so that it works in an enclosure without a file and always fits this version.

use crate::kernel::Language;

/// What the interpreter is started with, and what it reads first.
pub(crate) struct Prelude {
    /// The arguments of the interpreter.
    pub(crate) args: Vec<String>,
    /// The bytes that it reads from the frame pipe.
    pub(crate) payload: Vec<u8>,
}

/// Moves the streams: frames to descriptors 3 and 4, nothing on 0, and one raw pipe on 1 and 2, so that
/// what is written to either keeps its order.
pub(crate) const SHIM: &str = "exec 3<&0 4>&1 </dev/null >&2; exec \"$@\"";

/// What keeps Python from importing a module of the workspace before it reads its half, as 3.13 would
/// import `linecache`; the half takes it back, so that cells and their children know nothing of it.
pub(crate) const SAFE_PATH: (&str, &str) = ("PYTHONSAFEPATH", "toolbox");

const PYTHON: &str = concat!(
    include_str!("prelude/python_link.py"),
    include_str!("prelude/python_show.py"),
    include_str!("prelude/python_cells.py"),
);
const PYTHON_RICH: &str = include_str!("prelude/python_rich.py");
const PYTHON_MAGICS: &str = concat!(
    include_str!("prelude/python_rewrite.py"),
    include_str!("prelude/python_commands.py"),
    include_str!("prelude/python_magics.py"),
);

const BOOT_PYTHON: &str = "\
import sys
n = [p for p in sys.path if p not in ('', '.')]
f = len(n) != len(sys.path)
sys.path[:] = n
import os
if os.environ.get('PYTHONSAFEPATH') == 'toolbox':
    del os.environ['PYTHONSAFEPATH']
    f = True
def r(n):
    b = b''
    while len(b) < n:
        c = os.read(3, n - len(b))
        if not c: os._exit(71)
        b += c
    return b
s = [r(int(a)) for a in sys.argv[1:]]
exec(compile(s[0], '<kernel>', 'exec'), {'__name__': '__kernel__', \
'__builtins__': dict(__builtins__.__dict__), 'CWD_FIRST': f, \
'SOURCES': {'rich': s[1], 'magics': s[2]}})
";

const JAVASCRIPT: &str = include_str!("prelude/javascript.mjs");
const JAVASCRIPT_HELPER: &str = include_str!("prelude/javascript_helper.mjs");

const BOOT_JAVASCRIPT: &str = "\
(() => {
  const fs = require('node:fs');
  const r = (n) => {
    const b = Buffer.alloc(n);
    for (let o = 0; o < n; ) {
      const k = fs.readSync(3, b, o, n - o);
      if (!k) process.exit(71);
      o += k;
    }
    return b.toString();
  };
  const s = process.argv.slice(-2).map((a) => r(+a));
  process.argv.length = 1;
  const vm = require('node:vm');
  vm.runInContext(s[0], vm.createContext(), { filename: '<kernel>' })({
    require, dynamicImport: (n, o) => import(n, o), helperSource: s[1],
    main: { globalThis, process, Buffer, clearInterval, setImmediate, setInterval, Error, Object, Promise,
      SyntaxError, Uint8Array } });
})();
";

const RELAY_PYTHON: &str = include_str!("prelude/relay.py");
const RELAY_JAVASCRIPT: &str = include_str!("prelude/relay.mjs");

impl Prelude {
    pub(crate) fn of(language: Language) -> Self {
        match language {
            Language::Python => Self::python(),
            Language::JavaScript => Self::javascript(),
        }
    }

    /// The same with a relay in front, for where there is only one way in and one way out.
    pub(crate) fn relayed(language: Language) -> Self {
        let mut prelude = Self::of(language);
        let relay: &[&str] = match language {
            Language::Python => &["-c", RELAY_PYTHON],
            Language::JavaScript => &["-e", RELAY_JAVASCRIPT, "--"],
        };
        prelude
            .args
            .splice(0..0, relay.iter().map(|word| (*word).to_owned()));
        prelude
    }

    fn python() -> Self {
        let sources = [PYTHON, PYTHON_RICH, PYTHON_MAGICS];
        let mut args = vec!["-c".to_owned(), BOOT_PYTHON.to_owned()];
        args.extend(sources.iter().map(|source| source.len().to_string()));
        Self {
            args,
            payload: sources.concat().into_bytes(),
        }
    }

    fn javascript() -> Self {
        let sources = [JAVASCRIPT, JAVASCRIPT_HELPER];
        let mut args = vec!["-e".to_owned(), BOOT_JAVASCRIPT.to_owned(), "--".to_owned()];
        args.extend(sources.iter().map(|source| source.len().to_string()));
        Self {
            args,
            payload: sources.concat().into_bytes(),
        }
    }
}
