#!/usr/bin/env python3
"""Compares `eval` with ipykernel behind jupyter_client, and a step of `debug` with the adapter's own time.

    benches/kernels.py [TOOLBOX [ENGINE]]    (default: target/release/toolbox)

Run it with the Python of `target/peers/venv`, which `tests/install-peers` makes: it needs jupyter_client,
ipykernel and debugpy. Each side does the same work in the same run, one after the other; the ratios are what
counts. A session of toolbox is driven as any harness drives it, by JSON lines over pipes. jupyter_client is a
library in the process of its caller; ENGINE, the binary of the bench `engine`, is the same for the crate.
"""

import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEGABYTE = 1 << 20


class Toolbox:
    """One `toolbox session`."""

    def __init__(self, program, folder):
        env = {**os.environ, "HOME": folder, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        env.pop("VIRTUAL_ENV", None)
        command = [program, "-C", folder, "session", "--approve", "exec"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, bufsize=0
        )
        self.lines = os.fdopen(self.process.stdout.fileno(), "rb", buffering=1 << 16, closefd=False)
        self.n_calls = 0

    def call(self, tool, **args):
        self.n_calls += 1
        request = {"id": self.n_calls, "tool": tool, "args": args}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        while True:
            answer = json.loads(self.lines.readline())
            if answer.get("id") == self.n_calls and "ok" in answer:
                assert answer["ok"], answer
                return answer["data"]

    def cell(self, code):
        data = self.call("eval", code=code, description="a cell of the benchmark")
        assert data["status"] == "ok", data
        return data

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class Jupyter:
    """One ipykernel."""

    def __init__(self):
        from jupyter_client import KernelManager

        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def cell(self, code):
        """Runs a cell until the kernel is idle again; gives its value and the bytes that it printed."""
        asked = self.client.execute(code)
        value, n_bytes = None, 0
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=120)
            except queue.Empty:
                raise SystemExit("ipykernel does not answer")
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "execute_result":
                value = content["data"]["text/plain"]
            elif kind == "stream":
                n_bytes += len(content["text"])
            elif kind == "status" and content["execution_state"] == "idle":
                return value, n_bytes

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def resident(pid):
    """The memory that a process alone keeps busy, in MiB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no Pss")


def median(times):
    return statistics.median(times)


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def row(name, ours, theirs, unit, goal, better="less"):
    ratio = theirs / ours if better == "less" else ours / theirs
    print(f"{name:34} {ours:10.3f} {unit:4} {theirs:10.3f} {unit:4} {ratio:7.1f}x   {goal}")


def kernels(program, engine):
    with tempfile.TemporaryDirectory() as folder:
        first = []
        for _ in range(5):
            toolbox = Toolbox(program, folder)
            # The session itself is there in both cases, as the notebook server is.
            toolbox.call("Glob", pattern="nothing")
            first.append(timed(lambda: toolbox.cell("1+1")))
            toolbox.close()
        theirs_first = []
        for _ in range(3):
            began = time.perf_counter()
            jupyter = Jupyter()
            assert jupyter.cell("1+1")[0] == "2"
            theirs_first.append(time.perf_counter() - began)
            jupyter.close()
        print(f"{'':34} {'toolbox':>15} {'ipykernel':>15} {'ratio':>8}   goal")
        row("start to first result", median(first), median(theirs_first), "s", "10x")
        toolbox, jupyter = Toolbox(program, folder), Jupyter()
        for side in (toolbox, jupyter):
            for _ in range(20):
                side.cell("1+1")
        ours = [timed(lambda: toolbox.cell("1+1")) for _ in range(300)]
        theirs = [timed(lambda: jupyter.cell("1+1")) for _ in range(100)]
        theirs = median(theirs) * 1e3
        row("round trip of 1+1, by a session", median(ours) * 1e3, theirs, "ms", "50x")
        if engine:
            linked = subprocess.run([engine, "cells", folder], capture_output=True, text=True, check=True)
            row("round trip of 1+1, linked", float(linked.stdout.split()[0]), theirs, "ms", "50x")
        ours = int(toolbox.cell("import os; os.getpid()")["result"])
        theirs = int(jupyter.cell("import os; os.getpid()")[0])
        row("idle memory of the kernel", resident(ours), resident(theirs), "MiB", "4x")
        flood = "import sys\nfor _ in range(1600): sys.stdout.write('x' * 65535 + '\\n')"
        n_bytes = 1600 * 65536
        ours = timed(lambda: toolbox.cell(flood))
        theirs = timed(lambda: jupyter.cell(flood))
        row("100 MB of standard output", n_bytes / MEGABYTE / ours, n_bytes / MEGABYTE / theirs, "MB/s", "-", "more")
        toolbox.close()
        jupyter.close()


class Adapter:
    """debugpy's adapter, spoken to directly: what its own part of a step costs."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "debugpy.adapter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        self.n_sent = 0
        self.events = []

    def send(self, command, **arguments):
        self.n_sent += 1
        body = json.dumps({"seq": self.n_sent, "type": "request", "command": command, "arguments": arguments})
        data = body.encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()
        return self.n_sent

    def read(self):
        length = 0
        while True:
            line = self.process.stdout.readline().strip()
            if not line:
                return json.loads(self.process.stdout.read(length))
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])

    def reply(self, number):
        while True:
            message = self.read()
            if message["type"] == "response" and message["request_seq"] == number:
                return message.get("body") or {}
            self.events.append(message)

    def event(self, name):
        while True:
            for at, message in enumerate(self.events):
                if message.get("event") == name:
                    del self.events[at]
                    return message.get("body") or {}
            self.events.append(self.read())

    def start(self, program, line):
        self.reply(self.send("initialize", adapterID="debugpy", pathFormat="path"))
        self.send("launch", program=program, console="internalConsole", subProcess=False, justMyCode=True)
        self.event("initialized")
        self.reply(self.send("setBreakpoints", source={"path": program}, breakpoints=[{"line": line}]))
        self.reply(self.send("configurationDone"))
        return self.event("stopped")["threadId"]

    def step(self, thread):
        """Steps, and asks what an answer of toolbox shows: the frame, its scopes, its variables."""
        number = self.send("next", threadId=thread)
        self.reply(number)
        self.event("stopped")
        stack = self.reply(self.send("stackTrace", threadId=thread, startFrame=0, levels=1))
        scopes = self.reply(self.send("scopes", frameId=stack["stackFrames"][0]["id"]))
        self.reply(self.send("variables", variablesReference=scopes["scopes"][0]["variablesReference"]))

    def close(self):
        self.reply(self.send("disconnect", terminateDebuggee=True))
        self.process.stdin.close()
        self.process.wait(30)


def steps(program):
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "turns.py")
        Path(folder, "requirements.txt").touch()
        Path(script).write_text("def main():\n    n = 0\n    while True:\n        n += 1\n        m = n * 2\n\nmain()\n")
        toolbox, adapter = Toolbox(program, folder), Adapter(folder)
        toolbox.call("debug", operation="breakpoints", file="turns.py", lines=[4])
        toolbox.call("debug", operation="launch", program="turns.py", timeout_seconds=60)
        toolbox.call("debug", operation="breakpoints", file="turns.py", lines=[])
        thread = adapter.start(script, 4)
        adapter.reply(adapter.send("setBreakpoints", source={"path": script}, breakpoints=[]))
        ours, theirs = [], []
        for turn in range(120):
            ours.append(timed(lambda: toolbox.call("debug", operation="step_over")))
            theirs.append(timed(lambda: adapter.step(thread)))
        ours, theirs = median(ours[20:]) * 1e3, median(theirs[20:]) * 1e3
        print(f"\na step of debugpy: {ours:.2f} ms by toolbox, {theirs:.2f} ms spoken to directly; over it: "
              f"{ours - theirs:.2f} ms (goal: under 5 ms)")
        toolbox.call("debug", operation="terminate")
        toolbox.close()
        adapter.close()


if __name__ == "__main__":
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/toolbox"
    program = os.path.abspath(program)
    if not os.access(program, os.X_OK):
        raise SystemExit(f"{program} is no program: cargo build --release")
    kernels(program, os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None)
    steps(program)
