# The Python half of a kernel: it runs cells and talks to the host over two private pipes.
#
# It is written for Python 3.8 and later and for the standard library alone. Every import here costs each
# start, so what only some cells need is loaded when they need it (`extra`). All names live in a namespace
# of their own with a copy of the builtins, so that nothing a cell does to its names or to `builtins`
# reaches them.

import _ast
import _signal
import _thread
import binascii
import builtins
import errno
import fcntl
import io
import os
import select
import sys
import time

try:
    import _json
except ImportError:
    _json = None

VERSION = 1
MAIN = _thread.get_ident()
MAX_TEXT = 16 << 20
MAX_TRACEBACK = 18000
FUTURES = 0x1FE0000
SOURCE = "<kernel>"


def private(fd):
    """Moves a descriptor out of reach: a high number, not inherited by what is executed."""
    for lowest in (200, 50, 5):
        try:
            moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, lowest)
            break
        except OSError:
            continue
    else:
        return fd
    os.close(fd)
    return moved


def identity(fd):
    status = os.fstat(fd)
    return (status.st_dev, status.st_ino)


INCOMING = private(3)
OUTGOING = private(4)
RAW = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 5)
KNOWN = {fd: identity(fd) for fd in (INCOMING, OUTGOING, RAW)}


def checked(fd):
    """Ends the process when the descriptor is no longer the host's pipe, as after os.closerange: a frame
    would land in a file of the user."""
    try:
        same = identity(fd) == KNOWN[fd]
    except OSError:
        same = False
    if not same:
        try:
            if identity(2) == KNOWN[RAW]:
                os.write(2, b"the pipes to the host were closed by the cell\n")
        finally:
            os._exit(70)


# What the kernel knows of itself.
class State:
    armed = False  # a cell's code runs: an interrupt raises
    guards = 0  # the main thread is at work that an interrupt must not tear
    pending = False
    last_interrupt = -10.0
    interrupted = False
    forked = False
    cell = None
    count = 0
    loop = None
    flags = 0
    user_limit = sys.getrecursionlimit()
    warmed = False


S = State()


class Guard:
    """Holds back KeyboardInterrupt on the main thread."""

    def __enter__(self):
        if _thread.get_ident() == MAIN:
            S.guards += 1

    def __exit__(self, *_):
        if _thread.get_ident() == MAIN:
            S.guards -= 1
            if S.pending and not S.guards:
                S.pending = False
                if S.armed:
                    raise KeyboardInterrupt


guard = Guard()


def on_signal(number, frame):
    if S.forked:
        raise KeyboardInterrupt
    if not S.armed:
        return
    now = time.monotonic()
    # The host sends SIGINT to the group and SIGUSR2 to the kernel, and SIGUSR2 again until it sees the
    # cell end, because a thread of native code may have taken the first: together they are one interrupt.
    if now - S.last_interrupt < 1.0 or (number == _signal.SIGUSR2 and S.interrupted):
        return
    S.last_interrupt = now
    S.interrupted = True
    if S.guards:
        S.pending = True
        return
    raise KeyboardInterrupt


def on_terminate(number, frame):
    """The host needs the kernel no longer: exit handlers run."""
    raise SystemExit(0)


# JSON without the package: its regular expressions alone would take longer than everything here.


def fallback(value):
    if hasattr(value, "__fspath__"):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if type(value).__module__ == "numpy":
        item = getattr(value, "tolist", None)
        if item is not None:
            return item()
    raise TypeError("%s is not JSON serializable" % type(value).__name__)


class ScanSettings:
    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo = {}


try:
    scan = _json.make_scanner(ScanSettings())

    def load(text):
        return scan(text, 0)[0]

    if load('{"a": [1, "b"]}') != {"a": [1, "b"]}:
        raise ValueError

    def dump(value):
        encoder = _json.make_encoder(
            {}, fallback, _json.encode_basestring, None, ": ", ", ", False, False, False
        )
        return "".join(encoder(value, 0))

    if dump({"a": [1, None]}) != '{"a": [1, null]}':
        raise ValueError
except Exception:
    import json as json_package

    def load(text):
        return json_package.loads(text, strict=False)

    def dump(value):
        return json_package.dumps(value, default=fallback, allow_nan=False, ensure_ascii=False)


# The link to the host. There is no reader thread: whoever waits for an answer reads, and hands to the
# others what is theirs.


class Slot:
    def __init__(self):
        self.lock = _thread.allocate_lock()
        self.lock.acquire()
        self.ready = False
        self.value = None

    def wake(self):
        try:
            self.lock.release()
        except RuntimeError:
            pass


class Link:
    def __init__(self):
        self.renew()
        self.last_id = 0

    def renew(self):
        self.writing = _thread.allocate_lock()
        self.state = _thread.allocate_lock()
        self.slots = {}
        self.leading = False
        self.buffer = bytearray()
        self.cells = []
        self.idle = None
        self.ended = False
        self.poller = select.poll()
        self.poller.register(INCOMING, select.POLLIN)

    def send(self, frame):
        # The line end in front sets off whatever somebody else wrote to the pipe.
        data = b"\n" + dump(frame).encode("utf-8", "replace") + b"\n"
        with guard, self.writing:
            checked(OUTGOING)
            view = memoryview(data)
            while view:
                try:
                    view = view[os.write(OUTGOING, view) :]
                except InterruptedError:
                    pass
                except OSError:
                    os._exit(0)

    def request(self, frame):
        """Sends a frame and waits for what the host answers."""
        slot = Slot()
        with guard:
            with self.state:
                self.last_id += 1
                number = self.last_id
                self.slots[number] = slot
        try:
            frame["id"] = number
            self.send(frame)
            self.wait(slot)
        except BaseException:
            with guard:
                with self.state:
                    self.slots.pop(number, None)
                if frame["t"] == "call":
                    self.send({"t": "cancel", "id": number})
            raise
        return slot.value

    def next_cell(self):
        while True:
            with self.state:
                if self.cells:
                    return self.cells.pop(0)
                if self.ended:
                    return None
                slot = self.idle = Slot()
            self.wait(slot)

    def wait(self, slot):
        while True:
            with guard:
                with self.state:
                    if slot.ready:
                        return
                    lead = not self.leading
                    if lead:
                        self.leading = True
            if not lead:
                slot.lock.acquire()
                continue
            try:
                while not slot.ready:
                    self.poller.poll()
                    with guard:
                        self.read()
            finally:
                with guard:
                    with self.state:
                        self.leading = False
                        others = list(self.slots.values())
                        if self.idle is not None:
                            others.append(self.idle)
                        for other in others:
                            if other is not slot and not other.ready:
                                other.wake()
                                break

    def read(self):
        checked(INCOMING)
        start = len(self.buffer)
        chunk = os.read(INCOMING, 1 << 18)
        if not chunk:
            self.end()
            return
        self.buffer += chunk
        while True:
            at = self.buffer.find(b"\n", start)
            if at < 0:
                return
            line = bytes(self.buffer[:at])
            del self.buffer[: at + 1]
            start = 0
            if line:
                self.deliver(load(line.decode("utf-8", "replace")))

    def deliver(self, frame):
        with self.state:
            if frame["t"] == "exec":
                self.cells.append(frame)
                slot, self.idle = self.idle, None
            else:
                slot = self.slots.pop(frame["id"], None)
            if slot is not None:
                slot.value = frame
                slot.ready = True
                slot.wake()

    def end(self):
        with self.state:
            self.ended = True
            slots = list(self.slots.values())
            self.slots.clear()
            if self.idle is not None:
                slots.append(self.idle)
            for slot in slots:
                slot.value = {"err": "the host has ended", "kind": "cancelled"}
                slot.ready = True
                slot.wake()


link = Link()


# What a cell can use: tool, display, input.


class ToolError(Exception):
    """A tool failed; `kind` says how, `hint` what to do next."""

    def __init__(self, message, kind="failed", hint=None):
        super().__init__(message if not hint else "%s (hint: %s)" % (message, hint))
        self.message = message
        self.kind = kind
        self.hint = hint


# Tracebacks name it without a module of the kernel's.
ToolError.__module__ = "builtins"


class ToolText(str):
    """The text of a tool's result, with its `data` and `images`."""

    data = None
    images = ()


class ToolImage:
    """A picture in a tool's result."""

    def __init__(self, mime, data):
        self.mime = mime
        self.data = data

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.data, "text/plain": repr(self)}

    def __repr__(self):
        return "<%s, %d bytes>" % (self.mime, len(self.data))


class Tool:
    """Calls the agent's own tools: tool("Read", {"path": "a.py"}).

    Gives the tool's text, a str with `.data` and `.images`, or its data when it has no text. A failure
    raises ToolError. In a coroutine: await tool.aio(name, args).
    """

    Error = ToolError

    def __call__(self, name, args=None, **more):
        if S.forked:
            raise ToolError("tool() works in the kernel's own process, and this is a fork of it")
        cell = S.cell
        if cell is None:
            raise ToolError("tool() works while a cell runs, and none does")
        arguments = dict(args or {})
        arguments.update(more)
        answer = link.request(
            {"t": "call", "cell": cell, "name": str(name), "args": dump(arguments)}
        )
        if answer.get("err") is not None:
            raise ToolError(answer["err"], answer.get("kind", "failed"), answer.get("hint"))
        value = answer.get("val") or {}
        images = [
            ToolImage(image["mime"], binascii.a2b_base64(image["data"]))
            for image in value.get("images") or ()
        ]
        if not value.get("text") and not images:
            return value.get("data")
        text = ToolText(value.get("text") or "")
        text.data = value.get("data")
        text.images = images
        return text

    async def aio(self, name, args=None, **more):
        import asyncio
        import threading

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def settle(method, value):
            if not future.done():
                method(value)

        def work():
            try:
                result = (future.set_result, self(name, args, **more))
            except BaseException as error:
                result = (future.set_exception, error)
            try:
                loop.call_soon_threadsafe(settle, *result)
            except RuntimeError:
                pass

        threading.Thread(target=work, name="tool %s" % name, daemon=True).start()
        return await future

    def __repr__(self):
        return "<tool: tool(name, args) calls one of the agent's tools>"


def refuse_input(prompt="", *_):
    raise EOFError(
        "input() has nobody to answer it here: put the value into the code, or ask the person with "
        'tool("ask_user", {"question": "..."})'
    )


def leave(code=None):
    """Ends the cell; the kernel and its variables stay."""
    raise SystemExit(code)


MIMES = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)


def plain(value):
    """The text of a value: its repr, long containers over several lines."""
    if "pandas" in sys.modules:
        text = extra("rich").frame_text(value)
        if text is not None:
            return text
    text = repr(value)
    if type(value) in (list, tuple, dict, set, frozenset) and 79 < len(text) < 200000:
        import pprint

        text = pprint.pformat(value, width=79, compact=True, **PRETTY)
    if len(text) > MAX_TEXT:
        text = "%s\n[cut after %d of %d characters]" % (text[:MAX_TEXT], MAX_TEXT, len(text))
    return text


PRETTY = {"sort_dicts": False}


def encoded(mime, value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        if mime.startswith("text/") or mime in ("image/svg+xml", "application/json"):
            return bytes(value).decode("utf-8", "replace")
        return binascii.b2a_base64(bytes(value), newline=False).decode("ascii")
    if isinstance(value, str):
        return value
    return dump(value)


def bundle(value, own_text=True):
    """The representations of a value by media type; `text/plain` is always there."""
    data = {}
    kind = type(value)
    if not isinstance(value, type):
        method = getattr(kind, "_repr_mimebundle_", None)
        if callable(method):
            try:
                try:
                    res = method(value, include=None, exclude=None)
                except TypeError:
                    res = method(value)
                if isinstance(res, tuple):
                    res = res[0]
                data.update(res or {})
            except Exception:
                pass
        for name, mime in MIMES:
            method = getattr(kind, name, None)
            if mime in data or not callable(method):
                continue
            try:
                res = method(value)
                if isinstance(res, tuple):
                    res = res[0]
                if res is not None:
                    data[mime] = res
            except Exception:
                pass
        if "matplotlib.figure" in sys.modules and "image/png" not in data:
            picture = extra("rich").figure_png(value)
            if picture is not None:
                data["image/png"] = picture
    if "text/plain" not in data:
        data["text/plain"] = plain(value)
    return {str(mime): encoded(mime, res) for mime, res in data.items() if res is not None}


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def show(kind, data):
    """Hands a display to the host and waits until it stands in its place in the output."""
    if S.forked:
        os.write(1, (data.get("text/plain", "") + "\n").encode("utf-8", "replace"))
        return
    if S.cell is None:
        # Nobody would answer before the next cell; a thread that shows something late prints it.
        print(data.get("text/plain", ""))
        return
    flush()
    link.request({"t": kind, "cell": S.cell, "data": data})


def display(*values, **options):
    """Shows values in their richest form."""
    for value in values:
        if options.get("raw") and isinstance(value, dict):
            data = {str(mime): encoded(mime, res) for mime, res in value.items()}
            data.setdefault("text/plain", "")
        elif isinstance(value, str):
            data = {"text/plain": value}
        else:
            data = bundle(value)
        show("display", data)


# Sources that are compiled when they are first needed.

EXTRAS = {}


class Extra:
    pass


def extra(name):
    loaded = EXTRAS.get(name)
    if loaded is None:
        with guard:
            names = dict(globals())
            names["__name__"] = "__kernel_%s__" % name
            exec(compile(SOURCES[name], SOURCE, "exec"), names)
            loaded = Extra()
            loaded.__dict__.update(names)
            EXTRAS[name] = loaded
    return loaded


class StandardLibraryFirst:
    """Keeps a `json.py` or `random.py` in the folder from standing in for the standard library."""

    def __init__(self, names, path):
        self.names = names
        self.path = path

    def find_spec(self, name, path=None, target=None):
        if path is None and name in self.names:
            return PATH_FINDER.find_spec(name, self.path)
        return None


class AfterImport:
    """Runs a patch right after certain modules were loaded."""

    names = {
        "matplotlib.pyplot": "on_pyplot",
        "threading": "on_threading",
        "IPython.display": "on_ipython_display",
        "IPython.core.display_functions": "on_ipython_display",
        "IPython.core.getipython": "on_get_ipython",
        "IPython": "on_get_ipython",
    }
    busy = ()

    def find_spec(self, name, path=None, target=None):
        patch = self.names.get(name)
        if patch is None or name in self.busy:
            return None
        self.busy += (name,)
        try:
            for finder in sys.meta_path:
                if finder is self or not hasattr(finder, "find_spec"):
                    continue
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
            else:
                return None
        finally:
            self.busy = tuple(other for other in self.busy if other != name)
        load_module = getattr(spec.loader, "exec_module", None)
        if load_module is not None and not isinstance(spec.loader, StandIns):

            def exec_module(module):
                load_module(module)
                try:
                    getattr(extra("rich"), patch)(module)
                except Exception:
                    pass

            try:
                spec.loader.exec_module = exec_module
            except AttributeError:
                pass
        return spec


class StandIns:
    """Small stand-ins for the parts of IPython that people import by reflex, where it is missing."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "IPython" or name not in extra("rich").STAND_INS:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        extra("rich").fill(module)


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
    global LAST
    if value is None:
        return
    show("result", bundle(value))
    # A `_` of the user or of gettext stays what it is.
    if "_" not in builtins.__dict__ and USER.get("_", LAST) is LAST:
        USER["_"] = LAST = value


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
    sys.stderr.write(safe_text(code) + "\n")
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
    try:
        S.armed = True
        try:
            parts, shows, mute = prepare(frame["code"], name)
            running = True
            sys.setrecursionlimit(S.user_limit)
            value = run_parts(parts)
            if shows and not mute:
                echo(value)
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
    if "threading" in sys.modules:
        extra("rich").on_threading(sys.modules["threading"])
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
sys.meta_path.insert(0, AfterImport())
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
