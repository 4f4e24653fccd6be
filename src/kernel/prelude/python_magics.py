# What people type by reflex in a notebook: %magics, !commands, pasted prompts. It is loaded when a cell is
# no Python, so that valid Python is never rewritten.

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


# Commands.


def frame_names():
    """The names where the magic stands: those of the calling function, or of the user."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in (SOURCE, "<string>"):
        frame = frame.f_back
    names = dict(USER)
    if frame is not None and frame.f_code.co_filename.startswith("<cell "):
        names.update(frame.f_locals)
    return names


def expand(command):
    """Puts values for `{expression}` and `$name`; what is neither stays as it is."""
    if "{" not in command and "$" not in command:
        return command
    names = frame_names()
    out = []
    at = 0
    while at < len(command):
        char = command[at]
        if char == "$":
            if command.startswith("$$", at):
                out.append("$")
                at += 2
                continue
            if command.startswith("${", at):
                end = command.find("}", at)
                end = len(command) if end < 0 else end + 1
                out.append(command[at:end])
                at = end
                continue
            found = NAME.match(command[at + 1 :])
            if found and found.group().split(".")[0] in names:
                try:
                    out.append(str(eval(found.group().rstrip("."), names)))
                    at += 1 + len(found.group().rstrip("."))
                    continue
                except Exception:
                    pass
        elif char == "{":
            end = closing(command, at)
            if end is not None:
                if command.startswith("{{", at) and command[end - 1] == "}":
                    out.append(command[at + 1 : end])
                    at = end + 1
                    continue
                value = expression(command[at + 1 : end], names)
                if value is not None:
                    out.append(value)
                    at = end + 1
                    continue
        out.append(char)
        at += 1
    return "".join(out)


def closing(command, at):
    depth = 0
    for place in range(at, len(command)):
        if command[place] == "{":
            depth += 1
        elif command[place] == "}":
            depth -= 1
            if depth == 0:
                return place
    return None


def expression(text, names):
    for source, form in ((text, ""),) + (
        ((text.rpartition(":")[0], text.rpartition(":")[2]),) if ":" in text else ()
    ):
        try:
            code = compile(source.strip(), "<string>", "eval")
        except (SyntaxError, ValueError):
            continue
        try:
            return format(eval(code, names), form)
        except Exception:
            continue
    return None


def shell_program():
    return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"


def wait_for(process):
    """Waits for a command; an interrupt ends the command too."""
    try:
        return process.wait()
    except BaseException:
        try:
            process.wait(0.3)
        except BaseException:
            process.kill()
            process.wait()
        raise


def note_code(code):
    USER["_exit_code"] = code
    if code:
        flush()
        print("[exit code %d]" % code)


def system(command):
    command = expand(command)
    found = re.match(r"^\s*(?:python3?\s+-m\s+)?pip3?\s+(?=\w)", command)
    if found:
        # The kernel's own interpreter is meant, and its modules are to be forgotten.
        note_code(pip_and_evict(command[found.end() :]))
        return
    if re.match(r"^cd\s+[^;&|]+$", command.strip()):
        # In a shell of its own it would do nothing.
        LINE["cd"](command.strip()[2:].strip())
        return
    flush()
    note_code(wait_for(subprocess.Popen(command, shell=True, executable=shell_program())))


class Lines(list):
    """The lines of a command, as IPython's SList has them."""

    @property
    def n(self):
        return "\n".join(self)

    nlstr = n

    @property
    def s(self):
        return " ".join(self)

    spstr = s

    @property
    def l(self):
        return list(self)

    list = l

    def grep(self, pattern, prune=False, field=None):
        found = re.compile(pattern, re.I)
        return Lines(line for line in self if bool(found.search(line)) != prune)

    def fields(self, *numbers):
        rows = [line.split() for line in self]
        if not numbers:
            return rows
        return Lines(" ".join(row[n] for n in numbers if n < len(row)) for row in rows)


def getoutput(command):
    flush()
    process = subprocess.Popen(
        expand(command),
        shell=True,
        executable=shell_program(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        output = process.communicate()[0]
    except BaseException:
        process.kill()
        process.wait()
        raise
    USER["_exit_code"] = process.returncode
    return Lines(output.decode("utf-8", "replace").splitlines())


# Dispatch.


def line_magic(name, line):
    function = LINE.get(name)
    if function is None:
        if name in CELL:
            raise UsageError("%%%s is a cell magic: it stands as %%%%%s on the first line" % (name, name))
        raise UsageError(
            "line magic %%%s not found; there are %s" % (name, ", ".join("%" + n for n in sorted(LINE)))
        )
    return function(line if name in RAW_LINES else expand(line))


def cell_magic(name, line, body):
    function = CELL.get(name)
    if function is None:
        raise UsageError(
            "cell magic %%%%%s not found; there are %s"
            % (name, ", ".join("%%" + n for n in sorted(CELL)))
        )
    return function(line, body)


RAW_LINES = ("time", "timeit", "pinfo", "pinfo2")


def run_inner(code, count=[0]):
    """Runs code as a cell inside a cell; gives the value of its last expression."""
    count[0] += 1
    parts, shows, mute = prepare(code, "<cell %s.%d>" % (S.cell, count[0]))
    value = run_parts(parts)
    return value if shows and not mute else None


# Line magics.


PIPED = re.compile(r"\s[|;&]|&&|\s\d?>\s|\d>&\d")


def run_pip(line):
    """Runs pip, or uv in an environment without it, for the interpreter of the kernel."""
    import importlib.util

    arguments = shlex.split(line) if not PIPED.search(line) else line.split()
    if arguments and arguments[0] == "uninstall" and "-y" not in arguments:
        line = line.replace("uninstall", "uninstall -y", 1)
    command = shlex.quote(sys.executable) + " -m pip "
    if importlib.util.find_spec("pip") is None:
        import shutil

        if shutil.which("uv") is None:
            raise UsageError("%s has no pip, and there is no uv" % sys.executable)
        command = "VIRTUAL_ENV=%s uv pip " % shlex.quote(sys.prefix)
    environment = dict(os.environ, PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    if not PIPED.search(line):
        line = " ".join(shlex.quote(word) for word in shlex.split(line))
    flush()
    return wait_for(
        subprocess.Popen(command + line, shell=True, executable=shell_program(), env=environment)
    )


def distributions():
    """What is installed: of each distribution its version, when it was recorded, and its top-level names."""
    import importlib

    importlib.invalidate_caches()
    try:
        from importlib import metadata
    except ImportError:
        return {}
    found = {}
    for distribution in metadata.distributions():
        try:
            name = distribution.metadata["Name"]
            if not name or name.lower() in found:
                continue
            names = set()
            record = distribution.read_text("RECORD") or ""
            for row in record.splitlines():
                path = row.rsplit(",", 2)[0].strip('"')
                head = path.split("/")[0]
                if head.startswith("..") or head.endswith((".dist-info", ".data", ".egg-info")):
                    continue
                if "/" in path:
                    names.add(head)
                elif path.endswith((".py", ".so", ".pyd")):
                    names.add(head.split(".")[0])
            for name_line in (distribution.read_text("top_level.txt") or "").split():
                names.add(name_line)
            names.discard("__pycache__")
            stamp = None
            path = getattr(distribution, "_path", None)
            if path is not None:
                try:
                    stamp = os.stat(os.path.join(str(path), "RECORD")).st_mtime_ns
                except OSError:
                    pass
            found[name.lower()] = (distribution.version, stamp, frozenset(names))
        except Exception:
            continue
    return found


def native(name):
    """Tells whether a package has loaded native code: to load it again would crash the interpreter."""
    for loaded, module in list(sys.modules.items()):
        if loaded == name or loaded.startswith(name + "."):
            path = getattr(module, "__file__", None) or ""
            if path.endswith((".so", ".pyd", ".dylib")):
                return True
    return False


def evict(before, after):
    """Forgets the modules of what was installed, changed or removed, so that the next import is fresh."""
    names = set()
    for name in set(before) | set(after):
        old, new = before.get(name), after.get(name)
        if old != new:
            names |= old[2] if old else frozenset()
            names |= new[2] if new else frozenset()
    kept, gone = [], []
    for name in sorted(names):
        loaded = [module for module in sys.modules if module == name or module.startswith(name + ".")]
        if not loaded:
            continue
        if native(name):
            kept.append(name)
            continue
        gone.append(name)
        for module in loaded:
            sys.modules.pop(module, None)
    if gone:
        print("[%s: import it again to use what was installed]" % ", ".join(gone))
    for name in kept:
        print(
            "[%s has native code loaded and stays as it is: reset the interpreter (reset=true) to use "
            "what was installed]" % name
        )


def pip_and_evict(line):
    before = distributions()
    code = run_pip(line)
    USER["_exit_code"] = code
    evict(before, distributions())
    return code


@magic("pip")
def pip(line):
    code = pip_and_evict(line)
    if code:
        raise RuntimeError("pip %s ended with exit code %d" % (line, code))


@magic("uv")
def uv(line):
    before = distributions()
    flush()
    code = wait_for(subprocess.Popen(["uv"] + shlex.split(line)))
    evict(before, distributions())
    if code:
        raise RuntimeError("uv %s ended with exit code %d" % (line, code))


@magic("cd")
def cd(line):
    target = line.strip()
    quiet = target == "-q" or target.startswith("-q ")
    if quiet:
        target = target[2:].strip()
    target = target.strip("\"'") or "~"
    if target == "-":
        target = FOLDERS[-1] if FOLDERS else "."
    here = os.getcwd()
    os.chdir(os.path.expanduser(target))
    FOLDERS.append(here)
    if not quiet:
        print(os.getcwd())


FOLDERS = []


@magic("pwd")
def pwd(line):
    return os.getcwd()


@magic("env", "set_env")
def env(line):
    line = line.strip()
    if not line:
        return dict(os.environ)
    if "=" in line:
        name, value = line.split("=", 1)
    elif " " in line:
        name, value = line.split(" ", 1)
    elif line in os.environ:
        return os.environ[line]
    else:
        raise UsageError("environment does not have key: %s" % line)
    os.environ[name.strip()] = value.strip()
    print("env: %s=%s" % (name.strip(), value.strip()))


def spoken(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return "%.3g %s" % (seconds / size, unit)
    return "%.3g ns" % (seconds * 1e9)


def timed(code):
    wall, cpu = time.perf_counter(), os.times()
    try:
        return run_inner(code)
    finally:
        wall = time.perf_counter() - wall
        now = os.times()
        user, system_time = now[0] - cpu[0], now[1] - cpu[1]
        print(
            "CPU times: user %s, sys: %s, total: %s\nWall time: %s"
            % (spoken(user), spoken(system_time), spoken(user + system_time), spoken(wall))
        )


@magic("time")
def time_line(line):
    return timed(line)


@magic("time", table=CELL)
def time_cell(line, body):
    return timed(line + "\n" + body if line else body)


def measured(line, setup, code):
    import getopt
    import timeit

    options, rest = getopt.getopt(shlex.split(line, posix=False), "n:r:tcp:qov:")
    options = dict(options)
    if code is None:
        at = len(line)
        code = line
        for word in rest:
            at = line.find(word)
            code = line[at:] if at >= 0 else " ".join(rest)
            break
    timer = timeit.Timer(stmt=code, setup=setup or "pass", globals=USER)
    repeat = int(options.get("-r", 7))
    number = int(options.get("-n", 0))
    if not number:
        for exponent in range(0, 10):
            number = 10**exponent
            if timer.timeit(number) >= 0.2:
                break
    runs = [total / number for total in timer.repeat(repeat, number)]
    mean = sum(runs) / len(runs)
    spread = (sum((run - mean) ** 2 for run in runs) / len(runs)) ** 0.5
    if "-q" not in options:
        print(
            "%s ± %s per loop (mean ± std. dev. of %d run%s, %s loop%s each)"
            % (
                spoken(mean),
                spoken(spread),
                len(runs),
                "s" if len(runs) > 1 else "",
                "{:,}".format(number),
                "s" if number > 1 else "",
            )
        )


@magic("timeit")
def timeit_line(line):
    measured(line, None, None)


@magic("timeit", table=CELL)
def timeit_cell(line, body):
    options = re.match(r"^((?:-\w\s*[\d.]*\s*)*)(.*)$", line)
    measured(options.group(1), options.group(2).strip() or None, body)


@magic("run")
def run(line):
    import runpy

    words = shlex.split(line)
    keep = False
    as_module = False
    while words and words[0].startswith("-"):
        option = words.pop(0)
        keep = keep or option == "-i"
        if option == "-m":
            as_module = True
            break
    if not words:
        raise UsageError("%run needs a file")
    name = os.path.expanduser(words[0])
    if not as_module and not os.path.exists(name) and os.path.exists(name + ".py"):
        name += ".py"
    arguments = sys.argv
    sys.argv = [name] + words[1:]
    try:
        if as_module:
            names = runpy.run_module(name, run_name="__main__", alter_sys=False)
        elif keep:
            with open(name, "rb") as file:
                exec(compile(file.read(), name, "exec", S.flags, True), USER)
            return
        else:
            folder = os.path.dirname(os.path.abspath(name))
            sys.path.insert(0, folder)
            try:
                names = runpy.run_path(name, run_name="__main__")
            finally:
                if folder in sys.path:
                    sys.path.remove(folder)
                sys.modules["__main__"] = USER_MODULE
    except SystemExit as error:
        if error.code not in (None, 0):
            raise
        return
    finally:
        sys.argv = arguments
    USER.update({key: value for key, value in names.items() if not key.startswith("__")})


@magic("pinfo", "pinfo2")
def pinfo(line):
    import inspect

    name = line.strip().strip("?")
    if "*" in name:
        import fnmatch

        names = set(USER) | set(builtins.__dict__)
        print("\n".join(sorted(fnmatch.filter(names, name))))
        return
    try:
        value = eval(name, USER)
    except Exception:
        print("Object `%s` not found." % name)
        return
    rows = [("Type", type(value).__name__)]
    try:
        rows.insert(0, ("Signature", name + str(inspect.signature(value))))
    except (TypeError, ValueError):
        text = repr(value)
        rows.append(("String form", text if len(text) < 500 else text[:500] + "..."))
    try:
        rows.append(("File", inspect.getfile(value)))
    except (TypeError, OSError):
        pass
    rows.append(("Docstring", inspect.getdoc(value) or "<no docstring>"))
    print("\n".join("%-12s %s" % (label + ":", text) for label, text in rows))


@magic("who", "who_ls", "whos")
def who(line):
    names = sorted(
        name
        for name, value in USER.items()
        if not name.startswith("_") and not isinstance(value, type(sys))
    )
    print("\n".join("%-20s %s" % (name, type(USER[name]).__name__) for name in names))


@magic("matplotlib", "pylab")
def matplotlib(line):
    """Does nothing: figures are shown without it."""


@magic("load_ext", "reload_ext", "unload_ext", "autoreload", "config", "xmode", "colors", "pdb",
       "precision", "pprint", "automagic", "autosave", "logstart", "logstop", "gui", "autoawait")
def nothing(line):
    """Does nothing: it sets up what is not here."""


@magic("reset", "reset_selective")
def reset(line):
    raise UsageError("call eval with reset=true: it starts a clean interpreter")


@magic("lsmagic")
def lsmagic(line):
    print(
        "%s\n%s"
        % (" ".join("%" + n for n in sorted(LINE)), " ".join("%%" + n for n in sorted(CELL)))
    )


def shell_alias(name):
    def run_alias(line):
        system(("%s %s" % (name, line)).strip())

    LINE[name] = run_alias


for alias in ("ls", "ll", "cat", "mkdir", "rmdir", "rm", "cp", "mv", "head", "tail"):
    shell_alias("ls -l" if alias == "ll" else alias)
LINE["ll"] = LINE.pop("ls -l")


@magic("sx", "system", "sc")
def sx(line):
    return getoutput(line)


@magic("conda", "mamba")
def conda(line):
    system("conda " + line)


# Cell magics.


def script(program):
    def run_script(line, body):
        words = [program] + shlex.split(line)
        flush()
        process = subprocess.Popen(words, stdin=subprocess.PIPE)
        try:
            process.stdin.write(expand_body(body).encode("utf-8", "surrogateescape"))
            process.stdin.close()
        except BrokenPipeError:
            pass
        code = wait_for(process)
        USER["_exit_code"] = code
        if code:
            raise subprocess.CalledProcessError(code, words[0])

    return run_script


def expand_body(body):
    # A script has braces and dollars of its own.
    return body if body.endswith("\n") else body + "\n"


def shell_cell(program):
    # The body is an argument and not the input: commands in it must not read their own script.
    def run_shell(line, body):
        words = shlex.split(line)
        flush()
        process = subprocess.Popen([program, "-c", body, program] + words)
        code = wait_for(process)
        USER["_exit_code"] = code
        if code:
            raise subprocess.CalledProcessError(code, program)

    return run_shell


CELL["bash"] = shell_cell(shell_program())
CELL["sh"] = shell_cell("/bin/sh")
CELL["system"] = CELL["sx"] = CELL["bash"]
for interpreter in ("perl", "ruby", "node"):
    CELL[interpreter] = script(interpreter)
CELL["js"] = CELL["node"]
CELL["python"] = CELL["python3"] = script(sys.executable)


@magic("script", table=CELL)
def script_cell(line, body):
    words = shlex.split(line)
    if not words:
        raise UsageError("%%script needs a program")
    script(words[0])(" ".join(shlex.quote(word) for word in words[1:]), body)


@magic("writefile", "file", table=CELL)
def writefile(line, body):
    words = shlex.split(expand(line))
    append = "-a" in words or "--append" in words
    names = [word for word in words if not word.startswith("-")]
    if len(names) != 1:
        raise UsageError("%%writefile needs one file name")
    name = os.path.expanduser(names[0])
    there = os.path.exists(name)
    if body and not body.endswith("\n"):
        body += "\n"
    with open(name, "a" if append else "w", encoding="utf-8", newline="") as file:
        file.write(body)
    print("%s %s" % ("Appending to" if append else "Overwriting" if there else "Writing", name))


class Captured:
    """What %%capture caught."""

    def __init__(self, stdout, stderr):
        self.stdout = stdout
        self.stderr = stderr
        self.outputs = []

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)

    __call__ = show

    def __str__(self):
        return self.stdout


@magic("capture", table=CELL)
def capture(line, body):
    words = [word for word in line.split() if not word.startswith("-")]
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run_inner(body)
    finally:
        if words:
            USER[words[0]] = Captured(out.getvalue(), err.getvalue())


def shown_as(name):
    def run_shown(line, body):
        display(getattr(extra("rich"), name)(body))

    return run_shown


for kind, name in (("html", "HTML"), ("HTML", "HTML"), ("markdown", "Markdown"), ("latex", "Latex"),
                   ("svg", "SVG"), ("SVG", "SVG")):
    CELL[kind] = shown_as(name)


@magic("javascript", table=CELL)
def javascript(line, body):
    raise UsageError('JavaScript runs in its own kernel: call eval with language="javascript"')


@magic("prun", "lprun", "memit", "mprun")
def prun(line):
    import cProfile

    profile = cProfile.Profile()
    profile.runctx(line, USER, USER)
    profile.print_stats("cumulative")
