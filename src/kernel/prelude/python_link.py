# The Python half of a kernel: it runs cells and talks to the host over two private pipes.
#
# It is written for Python 3.8 and later and for the standard library alone. Every import here costs each
# start, so what only some cells need is loaded when they need it (`extra`). All names live in a namespace
# of their own with a copy of the builtins and of the modules that it needs, so that nothing a cell does to
# its names, to `builtins` or to `os` reaches them.
#
# This file is the link to the host. python_show.py is what a cell can use, python_cells.py runs cells; the
# three are one source when they are run.

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



def snapshot(module):
    """A copy of a module, for a cell may put anything into the original."""
    copy = type(sys)(module.__name__)
    copy.__dict__.update(module.__dict__)
    return copy


_ast, _signal, _thread, binascii, errno, fcntl, io, os, select, time = map(
    snapshot, (_ast, _signal, _thread, binascii, errno, fcntl, io, os, select, time)
)
if _json is not None:
    _json = snapshot(_json)

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
        chunk = os.read(INCOMING, 1 << 16)
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


