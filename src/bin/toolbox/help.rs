//! The long help texts. They teach the pattern language, because a person at a terminal has no other page
//! open.

pub(crate) const TOOLBOX: &str = "\
The built-in tools of a coding agent's runtime, one command each: find and rewrite code by its shape, ask \
language servers, debug, run cells of Python and JavaScript, read and change files, run commands, fetch pages.

Each tool is a subcommand with real flags, and reachable by its own name through `toolbox call`.";

pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 nothing found; 2 the command line is wrong; 3 the tool failed (a cell of `eval` that did \
not run to its end is 3 too; `bash` has the code of its command).";

pub(crate) const AST_GREP: &str = "\
Finds code by its shape, not by its text. PATTERN is parsed by the grammar of the language, so spacing, line \
breaks and comments do not matter, and nothing inside strings and comments matches.

Ignored and hidden files are left out as ripgrep leaves them out; a PATH that is named is always searched. \
Matches come sorted by path and position. Exit code 1 when nothing matched.";

pub(crate) const SESSION: &str = "\
Holds one run over standard input and output: a request a line in, answers and events out, all JSON. Calls \
may overlap; answers come as they finish. The run, and every process it started, ends with the input.

  in   {\"id\":1,\"tool\":\"ast_grep\",\"args\":{..}}   {\"cancel\":1}   {\"list\":\"tools\"}
       {\"answer\":\"q_1\",\"choices\":[2]}   {\"answer\":\"q_1\",\"skip\":true}   {\"answer\":\"q_2\",\"approve\":true}
       {\"register\":{\"name\",\"tier\",\"description\",\"schema\"}}   {\"return\":\"c_1\",\"text\":..,\"data\":..}
  out  {\"id\":1,\"ok\":true,\"text\":..,\"data\":..,\"images\":[..]}   {\"id\":1,\"ok\":false,\"error\":{..}}
       {\"event\":\"tool\",..}   {\"event\":\"question\",..}   {\"event\":\"call\",..}   {\"tools\":[..]}

`toolbox session status` and `toolbox session stop` are about the session that commands with state keep in \
the background of a checkout.";

pub(crate) const PATTERNS: &str = r#"The pattern language:
  A pattern is a complete fragment of code: a statement, an expression, a
  class member, a declaration, ...
  $NAME     any one node; the same name twice means the same text twice
  $$$NAME   a run of zero or more siblings: arguments, statements, members
  $_ $$$    the same without a name
  \$NAME    a literal $NAME
  NAME is A-Z, 0-9 and _, and does not begin with a digit; $x and $1 are literal text.
  Every token counts, also one that the pattern leaves out: `fn f() {}` is
  not `pub fn f() {}`. In Python the line structure counts too.
  Quote patterns with '...' in a shell; put `--` before one that begins with
  a dash.

Rungs: the pattern is tried as a statement, expression, class member,
  declaration, type, parameter, match arm, object member, decorator and
  import, in this order; --context names one. --explain shows how it is read.

Without PATH the whole enclosing checkout is searched, or what -C names.

Examples:
  toolbox ast-grep 'if ($X != null) $X.dispose()' -l dart
  toolbox ast-grep 'print($$$ARGS)' src -l python -U 2
  toolbox ast-grep '$X == $X' -l c                      both sides the same
  toolbox ast-grep 'fn $F($$$A) -> Option<$T> { $$$B }' -l rust -g '!tests/**'
  toolbox ast-grep '@override' -l dart --context decorator
  toolbox ast-grep -l javascript -- '-$X'
  toolbox ast-grep --explain '$A => $B' -l dart"#;

pub(crate) const AST_EDIT: &str = "\
Works out a rewrite of every match and stages it: the diff is shown, no file is changed. `toolbox resolve \
EDIT_ID accept` applies it to all files or to none; `discard` drops it. Staged edits wait for 7 days.

A rewrite that adds syntax errors is refused, unless --allow-syntax-errors is given. Exit code 1 when nothing \
matched.";

pub(crate) const REWRITES: &str = r#"Rewrites:
  PATTERN is that of ast-grep (see `toolbox ast-grep --help`): $NAME is one
  node, $$$NAME a run of siblings. REWRITE is code in which these names stand
  for what they matched. A name that PATTERN does not bind ($_ included) is an
  error; $x and $1 are literal text. Text of several lines is indented to its
  new place. A capture whose meaning its new place would change is put in
  parentheses. Comments that would vanish are warned about. An empty REWRITE
  deletes the match, and leaves its line.

Examples:
  toolbox ast-edit 'dispose($X)' '$X.dispose()' -l dart
  toolbox ast-edit 'assertEquals($A, $B)' 'assertThat($B).isEqualTo($A)' test -l java
  toolbox ast-edit 'dbg!($X)' '$X' src/main.rs
In a script:
  id=$(toolbox ast-edit 'ping($$$A)' 'pong($$$A)' -l js --json | jq -r .edit_id)
  toolbox resolve "$id" accept"#;

pub(crate) const RESOLVE: &str = "\
Shows, accepts or discards what ast-edit staged: `toolbox resolve edit_1` shows it with its whole diff, \
`toolbox resolve edit_1 accept` applies it; the action alone takes the only edit. Accept compares every file with what it was when the edit was \
staged; when any differs, none is changed and the differing ones are listed. All files are changed or none, \
also when the machine fails midway: the next command finishes or undoes an interrupted accept.";

pub(crate) const CALL: &str = "\
Calls any tool by its name with raw arguments, as a runtime does. `toolbox tools --schema` shows the \
arguments. Paths are relative to the workspace here.";

pub(crate) const APPLY_PATCH: &str = "\
Applies a patch to any number of files: all of them change, or none does.

  *** Begin Patch
  *** Update File: src/app.py
  @@ def greet():
  -    print(\"hi\")
  +    print(\"hello\")
  *** Add File: notes.txt
  +first line
  *** Delete File: old.txt
  *** End Patch

In an update each change begins with @@ and may name a line above it; its lines begin with ' ' (stays), '-' \
(goes) or '+' (comes). *** Move to: PATH below an update's header moves the file. Paths are relative to the \
workspace. Places that were not exactly as the patch says are named.";
