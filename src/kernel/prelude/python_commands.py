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


