# Stands in front of a kernel inside an enclosure, whose command carries no more than input and output.
#
# It puts the raw output between the frames in the order written, turns interrupts into signals where the
# host's own do not reach, says how the kernel ended, and ends it when the host is gone.
import binascii, fcntl, os, select, signal, sys, time

def put(data):
    while data:
        data = data[os.write(1, data):]

def say(text):
    put(b"\n" + text.encode() + b"\n")

def take(fd):
    try:
        return os.read(fd, 1 << 16)
    except BlockingIOError:
        return b""

def drain(fd):
    for _ in range(64):
        data = take(fd)
        if not data:
            return
        say('{"t":"raw","data":"%s"}' % binascii.b2a_base64(data, newline=False).decode())

frames_in, to_kernel = os.pipe()
from_kernel, frames_out = os.pipe()
raw, raw_out = os.pipe()
woken, wake = os.pipe()
kernel = os.fork()
if kernel == 0:
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (null, raw_out, raw_out, frames_in, frames_out)]
    for place, fd in enumerate(high):
        os.dup2(fd, place)
    os.closerange(5, 256)
    os.execv(sys.executable, [sys.executable] + sys.argv[1:])
for fd in (frames_in, frames_out, raw_out):
    os.close(fd)
for fd in (to_kernel, from_kernel, raw, woken, wake):
    os.set_blocking(fd, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)

outbox, line, deadline, open_in, status = b"", b"", None, True, None
try:
    while status is None:
        poll = select.poll()
        for fd in (from_kernel, raw, woken) + ((0,) if open_in else ()):
            poll.register(fd, select.POLLIN)
        if outbox:
            poll.register(to_kernel, select.POLLOUT)
        left = None if deadline is None else max(0, (deadline - time.monotonic()) * 1000)
        ready = dict(poll.poll(left))
        if woken in ready:
            take(woken)
        pid, ended = os.waitpid(kernel, os.WNOHANG)
        if pid:
            status = ended
        if deadline is not None and time.monotonic() >= deadline:
            break
        if 0 in ready:
            data = os.read(0, 1 << 16)
            if not data:
                open_in = False
                deadline = time.monotonic() + 0.4
            line += data
            *lines, line = line.split(b"\n")
            for one in lines:
                if one.startswith(b'{"t":"interrupt"'):
                    os.killpg(kernel, signal.SIGINT)
                    os.kill(kernel, signal.SIGUSR2)
                else:
                    outbox += one + b"\n"
        if outbox:
            try:
                outbox = outbox[os.write(to_kernel, outbox):]
            except BlockingIOError:
                pass
            except OSError:
                outbox = b""
        if not open_in and not outbox and to_kernel is not None:
            os.close(to_kernel)
            outbox, to_kernel = b"", None
        frames = take(from_kernel) if from_kernel in ready or status is not None else b""
        drain(raw)
        if frames:
            put(frames)
    if status is not None:
        while True:
            frames = take(from_kernel)
            if not frames:
                break
            put(frames)
        drain(raw)
        if os.WIFSIGNALED(status):
            say('{"t":"exit","signal":%d}' % os.WTERMSIG(status))
        else:
            say('{"t":"exit","code":%d}' % os.WEXITSTATUS(status))
except OSError:
    pass
finally:
    try:
        os.killpg(kernel, signal.SIGKILL)
    except OSError:
        pass
