# The magics of a line and of a cell.


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
