# Running cells.

STREAMS = {}


def stream(fd, errors):
    raw = io.FileIO(fd, "w", closefd=False)
    text = io.TextIOWrapper(raw, encoding="utf-8", errors=errors, write_through=True)
    text.mode = "w"
    return text


def mend_streams():
    """Gives a cell working streams, whatever the one before did to them."""
    for fd in (1, 2):
        try:
            os.fstat(fd)
        except OSError:
            try:
                if identity(RAW) == KNOWN[RAW]:
                    os.dup2(RAW, fd)
            except OSError:
                pass
    try:
        os.fstat(0)
    except OSError:
        null = os.open(os.devnull, os.O_RDONLY)
        if null != 0:
            os.dup2(null, 0)
            os.close(null)
    for name, fd, errors in (("stdout", 1, "backslashreplace"), ("stderr", 2, "backslashreplace")):
        own = STREAMS.get(name)
        if own is None or own.closed:
            own = STREAMS[name] = stream(fd, errors)
            setattr(sys, "__%s__" % name, own)
        current = getattr(sys, name, None)
        try:
            broken = current is None or current.closed or not callable(current.write)
        except Exception:
            broken = not hasattr(current, "write")
        if broken:
            setattr(sys, name, own)
    if getattr(sys.stdin, "closed", True):
        sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False), encoding="utf-8")


def mend_builtins():
    names = builtins.__dict__
    for name, value in BUILTINS.items():
        if name not in names:
            names[name] = value


def parse(code, name):
    return compile(
        code,
        name,
        "exec",
        _ast.PyCF_ONLY_AST | _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | S.flags,
        True,
    )


def muted(code, last):
    """Tells whether a semicolon follows the last expression."""
    lines = code.split("\n")
    rest = lines[last.end_lineno - 1].encode("utf-8")[last.end_col_offset :].decode("utf-8")
    rest = "\n".join([rest] + lines[last.end_lineno :])
    return rest.replace("\\\n", "").lstrip(" \t\f)").startswith(";")


def prepare(code, name):
    """Parses a cell; what is no Python is read as IPython would read it."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    shown = code
    try:
        tree = None if code.lstrip().startswith("In [") else parse(code, name)
        problem = None
    except SyntaxError as error:
        tree, problem = None, error
    if tree is None:
        try:
            rewritten = extra("magics").transform(code)
        except RecursionError:
            rewritten = code
        if rewritten == code and problem is not None:
            raise problem
        code = rewritten
        tree = parse(code, name)
    flags = _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | S.flags
    body, last, mute = tree.body, None, False
    if body and isinstance(body[-1], _ast.Expr):
        last = body[-1]
        body = body[:-1]
        mute = muted(code, last)
    parts = []
    if body:
        # A tree that came from parsing keeps its other fields (`type_ignores`).
        tree.body = body
        parts.append(compile(tree, name, "exec", flags, True))
    if last is not None:
        expression = _ast.Expression(last.value)
        parts.append(compile(expression, name, "eval", flags, True))
    remember(name, shown)
    return parts, last is not None, mute


CELLS = {}


def remember(name, code):
    CELLS[name] = code
    if "linecache" in sys.modules or "inspect" in code or "traceback" in code or "linecache" in code:
        publish_sources()


def publish_sources():
    import linecache

    for name, code in CELLS.items():
        lines = [line + "\n" for line in code.split("\n")]
        linecache.cache[name] = (len(code), None, lines, name)
    CELLS.clear()


def run_parts(parts):
    """Runs the parts of a cell; with an await in one of them all run inside the event loop."""
    if any(code.co_flags & 0x80 for code in parts):
        return run_coroutine(run_async(parts))
    value = None
    for code in parts:
        value = eval(code, USER)
        S.flags |= code.co_flags & FUTURES
    return value


async def run_async(parts):
    value = None
    for code in parts:
        value = eval(code, USER)
        if code.co_flags & 0x80:
            value = await value
        S.flags |= code.co_flags & FUTURES
    return value


def run_coroutine(coroutine):
    import asyncio

    if S.loop is None or S.loop.is_closed():
        from concurrent.futures import ThreadPoolExecutor

        S.loop = asyncio.new_event_loop()
        S.loop.set_default_executor(ThreadPoolExecutor(64))
    loop = S.loop
    asyncio.set_event_loop(loop)
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        if not task.done():
            task.cancel()
            try:
                loop.run_until_complete(task)
            except (asyncio.CancelledError, Exception):
                pass
        raise KeyboardInterrupt from None


LAST = object()


def echo(value):
    """What the host is to show as the value of the cell; it comes with the end of the cell."""
    global LAST
    if value is None:
        return None
    data = bundle(value)
    if S.forked:
        show("result", data)
    # A `_` of the user or of gettext stays what it is.
    if "_" not in builtins.__dict__ and USER.get("_", LAST) is LAST:
        USER["_"] = LAST = value
    return data


def safe_text(value):
    try:
        return str(value)
    except Exception:
        return "<exception str() failed>"


def trimmed(summary, brief):
    """Leaves the user's frames: none of the kernel, and at the top none before the first cell; where the
    cell was interrupted also none below the last, which only say how the library waits."""
    import traceback

    seen = set()
    todo = [(summary, True)]
    while todo:
        one, head = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        frames = [frame for frame in one.stack or () if frame.filename != SOURCE]
        cells = [at for at, frame in enumerate(frames) if frame.filename.startswith("<cell ")]
        if head and cells:
            frames = frames[cells[0] :]
            if brief:
                frames = frames[: cells[-1] - cells[0] + 1]
        one.stack = traceback.StackSummary.from_list(frames)
        todo.append((one.__cause__, False))
        todo.append((one.__context__, False))
        for inner in getattr(one, "exceptions", None) or ():
            todo.append((inner, False))


def describe(error, running):
    """The traceback of an error as text."""
    try:
        import traceback

        publish_sources()
        if not running and isinstance(error, SyntaxError):
            lines = traceback.format_exception_only(type(error), error)
        else:
            summary = traceback.TracebackException(type(error), error, error.__traceback__)
            trimmed(summary, isinstance(error, KeyboardInterrupt))
            lines = list(summary.format())
        text = "".join(lines).rstrip("\n")
    except BaseException:
        text = "%s: %s" % (type(error).__name__, safe_text(error))
    if len(text) > MAX_TRACEBACK:
        half = MAX_TRACEBACK // 2
        text = "%s\n[... %d characters left out ...]\n%s" % (
            text[:half],
            len(text) - 2 * half,
            text[-half:],
        )
    return text


def exit_code(error):
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    try:
        sys.stderr.write(safe_text(code) + "\n")
    except BaseException:
        # The cell has put something else there.
        pass
    return 1


def finish_fork(error):
    """Ends a fork that fell off the end of its cell: it must not go on as a second kernel."""
    code = 0
    try:
        if isinstance(error, SystemExit):
            code = exit_code(error)
        elif error is not None:
            code = 1
            sys.stderr.write(describe(error, True) + "\n")
        flush()
    finally:
        os._exit(code & 255)


def run_cell(frame):
    mend_builtins()
    mend_streams()
    if _signal.getsignal(_signal.SIGUSR2) is not on_signal:
        _signal.signal(_signal.SIGUSR2, on_signal)
    S.cell = frame["id"]
    S.pending = False
    S.interrupted = False
    S.last_interrupt = -10.0
    name = "<cell %d>" % frame["n"]
    error = None
    running = False
    shown = None
    try:
        S.armed = True
        try:
            parts, shows, mute = prepare(frame["code"], name)
            running = True
            sys.setrecursionlimit(S.user_limit)
            value = run_parts(parts)
            if shows and not mute:
                shown = echo(value)
        finally:
            S.user_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(S.user_limit, 1000))
        S.armed = False
    except BaseException as caught:
        S.armed = False
        error = caught
    if S.forked:
        finish_fork(error)
    mend_builtins()
    mend_streams()
    if "matplotlib.pyplot" in sys.modules:
        try:
            S.armed = True
            extra("rich").show_figures()
            S.armed = False
        except BaseException as caught:
            S.armed = False
            error = error or caught
    done = {"t": "done", "id": frame["id"], "status": "ok"}
    if shown is not None:
        done["data"] = shown
    if isinstance(error, SystemExit):
        done["status"] = "exit"
        done["code"] = exit_code(error)
    elif error is not None:
        done["status"] = "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
        done["etype"] = type(error).__name__
        done["msg"] = safe_text(error)[:MAX_TRACEBACK]
        done["tb"] = describe(error, running)
        sys.last_type, sys.last_value, sys.last_traceback = (
            type(error),
            error,
            error.__traceback__,
        )
    S.cell = None
    flush()
    link.send(done)


def after_fork():
    S.forked = True
    S.cell = None
    _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)
    for fd in (INCOMING, OUTGOING):
        try:
            os.close(fd)
        except OSError:
            pass


def main():
    try:
        # When memory runs out the kernel shall go, not its host.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass
    link.send(
        {
            "t": "hello",
            "v": VERSION,
            "pid": os.getpid(),
            "program": sys.executable or "python3",
            "version": "%d.%d.%d" % sys.version_info[:3],
        }
    )
    # The interpreter's own streams hold back what is printed to a pipe.
    flush()
    sys.stdout = sys.stderr = None
    mend_streams()
    for name, patch in (("threading", "on_threading"), ("inspect", "on_inspect")):
        if name in sys.modules:
            getattr(extra("rich"), patch)(sys.modules[name])
    _signal.signal(_signal.SIGINT, on_signal)
    _signal.signal(_signal.SIGUSR2, on_signal)
    _signal.signal(_signal.SIGTERM, on_terminate)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
    while True:
        frame = link.next_cell()
        if frame is None:
            return
        try:
            run_cell(frame)
        except KeyboardInterrupt:
            # It came between the end of the cell and the end of its frame.
            S.armed = False
            S.cell = None
            link.send({"t": "done", "id": frame["id"], "status": "interrupted"})
        if S.forked:
            os._exit(0)
        if not S.warmed:
            S.warmed = True
            try:
                publish_sources()
                import traceback
            except Exception:
                pass


PATH_FINDER = sys.meta_path[-1]
for finder in sys.meta_path:
    if getattr(finder, "__name__", "") == "PathFinder":
        PATH_FINDER = finder
sys.meta_path.insert(
    0,
    StandardLibraryFirst(
        frozenset(getattr(sys, "stdlib_module_names", ("json", "random", "tokenize", "traceback",
            "linecache", "email", "code", "types", "string", "token", "inspect", "re", "enum",
            "asyncio", "logging", "queue", "select", "socket", "struct", "subprocess", "tempfile",
            "threading", "time", "typing", "statistics", "copy", "csv", "calendar", "datetime")))
        - {"test", "this", "antigravity", "idlelib", "lib2to3"},
        list(sys.path),
    ),
)
# It asks the others, so it is the first.
sys.meta_path.insert(0, AfterImport())
sys.meta_path.append(StandIns())
if CWD_FIRST:
    sys.path.insert(0, "")
sys.argv = [""]
os.environ.setdefault("MPLBACKEND", "agg")

builtins.tool = Tool()
builtins.display = display
builtins.input = refuse_input
builtins.exit = builtins.quit = leave
builtins.get_ipython = lambda: extra("rich").SHELL
BUILTINS = dict(builtins.__dict__)
BUILTINS.pop("_", None)

USER_MODULE = type(sys)("__main__")
USER = USER_MODULE.__dict__
USER["__builtins__"] = builtins
sys.modules["__main__"] = USER_MODULE

main()
