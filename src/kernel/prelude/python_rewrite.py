# What people type by reflex in a notebook: %magics, !commands, pasted prompts. It is loaded when a cell is
# no Python, so that valid Python is never rewritten.
#
# This file rewrites. python_commands.py runs commands and packages' installers, python_magics.py is the magics;
# the three are one source when they are run.

import contextlib
import re
import shlex
import subprocess


class UsageError(Exception):
    """A magic that does not exist, or is used wrongly."""


UsageError.__module__ = "builtins"

LINE = {}
CELL = {}


def magic(*names, table=LINE):
    def register(function):
        for name in names:
            table[name] = function
        return function

    return register


def register(function, kind, name):
    if kind in ("line", "line_cell"):
        LINE[name] = function
    if kind in ("cell", "line_cell"):
        CELL[name] = function


# Rewriting.

PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.|In \[\d+\]:|\s*\.\.\.:)(?: |$)")
OUT = re.compile(r"^Out\[\d+\]:")
ASSIGN = re.compile(r"^(?P<left>[^=!%#'\"]*?[\w\])*])\s*=\s*(?P<kind>[!%])(?P<rest>.*)$", re.S)
BARE_PIP = re.compile(
    r"^(?:python3?\s+-m\s+)?pip3?\s+(?:install|uninstall|list|show|freeze|download|check|--version)\b"
)
NAME = re.compile(r"^[A-Za-z_][\w.]*")


def is_python(code):
    try:
        parse(code, "<input>")
        return True
    except (SyntaxError, ValueError):
        return False


def transform(code):
    """Reads a cell as IPython would; gives the cell itself when there is nothing to rewrite."""
    cell = cell_form(code)
    if cell is not None:
        return cell
    for clean in (lambda text: text, spaces, prompts, dedent):
        cleaned = clean(code)
        if cleaned != code:
            code = cleaned
            cell = cell_form(code)
            if cell is not None:
                return cell
            if is_python(code):
                return code
    return lines_form(code)


def spaces(code):
    return code.replace("\ufeff", "").replace("\u00a0", " ")


def prompts(code):
    lines = code.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if not re.match(r"^\s*(>>>|In \[\d+\]:)", first):
        return code
    kept = []
    for line in lines:
        found = PROMPT.match(line)
        if found:
            kept.append(line[found.end() :])
        elif not line.strip():
            kept.append("")
        # What has no prompt is what the code printed.
    return "\n".join(kept)


def dedent(code):
    import textwrap

    return textwrap.dedent(code)


def cell_form(code):
    """The call for a cell that is one `%%magic`; comments and blank lines may stand above it."""
    lines = code.split("\n")
    for at, line in enumerate(lines):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not text.startswith("%%"):
            return None
        name, _, rest = text[2:].partition(" ")
        body = "\n".join(lines[at + 1 :])
        if text.startswith("%%!"):
            name, rest = "bash", ""
        call = "get_ipython().run_cell_magic(%r, %r, %r)" % (name, rest.strip(), body)
        return "\n" * at + call
    return None


class Lexer:
    """Knows of a place in Python code whether it is inside a string or brackets."""

    def __init__(self):
        self.quote = None
        self.depth = 0
        self.joined = False

    def at_start(self):
        return self.quote is None and self.depth == 0 and not self.joined

    def feed(self, line):
        at = 0
        self.joined = False
        while at < len(line):
            char = line[at]
            if self.quote is not None:
                if char == "\\":
                    at += 2
                    continue
                if line.startswith(self.quote, at):
                    at += len(self.quote)
                    self.quote = None
                    continue
                at += 1
                continue
            if char == "#":
                return
            if char in "\"'":
                self.quote = char * 3 if line.startswith(char * 3, at) else char
                at += len(self.quote)
                continue
            if char in "([{":
                self.depth += 1
            elif char in ")]}":
                self.depth = max(0, self.depth - 1)
            elif char == "\\" and at == len(line) - 1:
                self.joined = True
            at += 1
        if self.quote is not None and len(self.quote) == 1 and not line.endswith("\\"):
            # A string of one line ends with it, closed or not.
            self.quote = None


def lines_form(code):
    lines = code.split("\n")
    out = []
    lexer = Lexer()
    at = 0
    while at < len(lines):
        line = lines[at]
        if lexer.at_start():
            last = at
            joined = line
            while joined.endswith("\\") and last + 1 < len(lines):
                last += 1
                joined = joined[:-1] + "\n" + lines[last] if "!" in line else joined[:-1] + lines[last]
            rewritten = line_form(joined)
            if rewritten is not None:
                out.append(rewritten)
                # As many lines as before, so that line numbers stay.
                out.extend([""] * (last - at))
                at = last + 1
                continue
        lexer.feed(line)
        out.append(line)
        at += 1
    return "\n".join(out)


def line_form(line):
    """The Python for one logical line; None when it is Python already."""
    indent = line[: len(line) - len(line.lstrip())]
    text = line.strip()
    if not text:
        return None
    if text.startswith("!!"):
        return "%sget_ipython().getoutput(%r)" % (indent, text[2:].strip())
    if text.startswith("!") and not text.startswith("!="):
        return "%sget_ipython().system(%r)" % (indent, text[1:].strip().replace("\n", " "))
    if text.startswith("%") and NAME.match(text.lstrip("%")):
        name, _, rest = text.lstrip("%").partition(" ")
        return "%sget_ipython().run_line_magic(%r, %r)" % (indent, name, rest.strip())
    if BARE_PIP.match(text):
        rest = text[text.index("pip") :].partition(" ")[2]
        return "%sget_ipython().run_line_magic('pip', %r)" % (indent, rest.strip())
    found = ASSIGN.match(line)
    if found and is_python(found.group("left").strip() + " = 0"):
        rest = found.group("rest").strip().replace("\n", " ")
        if found.group("kind") == "!":
            return "%s = get_ipython().getoutput(%r)" % (found.group("left"), rest)
        name, _, rest = rest.partition(" ")
        return "%s = get_ipython().run_line_magic(%r, %r)" % (
            found.group("left"),
            name,
            rest.strip(),
        )
    asked = re.match(r"^(\?{1,2})\s*([\w.*]+)\s*;?$", text) or re.match(
        r"^([\w.*]+)\s*(\?{1,2})\s*;?$", text
    )
    if asked:
        parts = asked.groups()
        name = parts[1] if parts[0].startswith("?") else parts[0]
        return "%sget_ipython().run_line_magic('pinfo', %r)" % (indent, name)
    return None


