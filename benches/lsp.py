#!/usr/bin/env python3
"""Measures what `lsp` adds to the language servers themselves: latency, diagnostics on write, memory.

Usage: lsp.py TOOLBOX. The same questions go to the same servers twice in one run, interleaved: through a
`toolbox session`, and through a bare client that does nothing else. Servers are looked for on the PATH and
where tests/install-peers puts them; what is missing is left out and named. Medians; the claim is the
difference between the two, not the second.
"""
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOOLBOX = os.path.abspath(sys.argv[1])
PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "target", "peers")
PATH = os.pathsep.join(
    [os.path.join(os.path.realpath(PEERS), "venv", "bin"), "/usr/lib/llvm-22/bin", os.environ["PATH"]]
)
N_QUESTIONS = 200
N_WRITES = 15
N_DOCUMENTS = 1000

C = ("clangd", ["clangd", "--background-index"], "c", ".c", [("compile_flags.txt", "")])
PYTHON = (
    "basedpyright", ["basedpyright-langserver", "--stdio"], "python", ".py", [("pyproject.toml", "")]
)
RIGHT = {
    ".c": "int helper(int a) {\n  return a;\n}\nint user(void) {\n  return helper(1);\n}\n",
    ".py": "def helper(a: int) -> int:\n    return a\n\n\ndef user() -> int:\n    return helper(1)\n",
}
WRONG = {
    ".c": RIGHT[".c"].replace("return helper(1)", "return nope"),
    ".py": RIGHT[".py"].replace("return helper(1)", "return helper('x')"),
}
USE = {".c": (5, "helper"), ".py": (6, "helper")}


class Bare:
    """A client that sends what it is told, answers every question with null, and notes when things came."""

    def __init__(self, command, root, pull):
        env = dict(os.environ, PATH=PATH)
        self.process = subprocess.Popen(
            command, cwd=root, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0,
        )
        self.messages = queue.Queue()
        self.number = 0
        threading.Thread(target=self.read, daemon=True).start()
        document = {"publishDiagnostics": {"versionSupport": True}}
        if pull:
            document["diagnostic"] = {"dynamicRegistration": True}
        capabilities = {"textDocument": document, "general": {"positionEncodings": ["utf-8", "utf-16"]}}
        uri = "file://" + root
        params = {"processId": os.getpid(), "rootUri": uri, "capabilities": capabilities,
                  "workspaceFolders": [{"uri": uri, "name": "root"}]}
        self.ask("initialize", params)
        self.tell("initialized", {})

    def read(self):
        stream = os.fdopen(os.dup(self.process.stdout.fileno()), "rb")
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                return
            message = json.loads(stream.read(length))
            if "method" in message and "id" in message:
                items = (message.get("params") or {}).get("items")
                result = None if items is None else [None] * len(items)
                self.send({"id": message["id"], "result": result})
            else:
                self.messages.put(message)

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def until(self, wanted):
        while not wanted(message := self.messages.get(timeout=60)):
            pass
        return message

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        return self.until(lambda message: message.get("id") == self.number).get("result")

    def end(self):
        self.process.kill()
        self.process.wait()


class Session:
    """The tool, as a harness holds it."""

    def __init__(self, root, home):
        env = dict(os.environ, PATH=PATH, HOME=home)
        command = [TOOLBOX, "session", "--approve", "write"]
        self.process = subprocess.Popen(
            command, cwd=root, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.number = 0

    def call(self, tool, **args):
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, "tool": tool, "args": args}) + "\n")
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.number and "ok" in message:
                if not message["ok"]:
                    sys.exit(f"{tool} {args}: {message['error']}")
                return message

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            line = next(line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def timed(action):
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def write(root, name, text):
    with open(os.path.join(root, name), "w") as file:
        file.write(text)


def definition(session, bare, ending, uri):
    """Median milliseconds of a warm definition: through the tool, and bare."""
    line, symbol = USE[ending]
    column = RIGHT[ending].splitlines()[line - 1].index(symbol)
    place = {"textDocument": {"uri": uri}, "position": {"line": line - 1, "character": column}}
    ask = lambda: session.call("lsp", action="definition", file="a" + ending, line=line, symbol=symbol)
    bare_ask = lambda: bare.ask("textDocument/definition", place)
    ask(), bare_ask()
    pairs = [(timed(ask), timed(bare_ask)) for _ in range(N_QUESTIONS)]
    return [statistics.median(column) for column in zip(*pairs)]


def diagnostics(session, bare, ending, uri, pull):
    """Median milliseconds from a write to what it broke: through the tool, and bare until the server spoke."""
    version = 1

    def bare_change(text):
        nonlocal version
        version += 1
        document = {"uri": uri, "version": version}
        bare.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        bare.tell("textDocument/didSave", {"textDocument": {"uri": uri}})
        if pull:
            assert (bare.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"] != []) == (
                text == WRONG[ending]
            )
        else:
            bare.until(
                lambda message: message.get("method") == "textDocument/publishDiagnostics"
                and message["params"].get("version") == version
            )

    def change(text, is_wrong):
        report = session.call("Write", path="a" + ending, content=text)["data"].get("diagnostics") or {}
        assert bool(report.get("diagnostics")) == is_wrong, report

    pairs = []
    session.call("Read", path="a" + ending)
    for n in range(N_WRITES + 1):
        # No two texts are equal: a server may say nothing of a text that it has seen.
        wrong, right = (texts[ending] + "\n" * (n + 1) for texts in (WRONG, RIGHT))
        pair = timed(lambda: change(wrong, True)), timed(lambda: bare_change(WRONG[ending]))
        change(right, False)
        bare_change(RIGHT[ending])
        if n > 0:
            pairs.append(pair)
    return [statistics.median(column) for column in zip(*pairs)]


def memory(home):
    """Resident megabytes of the tool after one document, after as many as one server has open, and after
    many more."""
    with tempfile.TemporaryDirectory() as root:
        root = os.path.realpath(root)
        for name, text in C[4]:
            write(root, name, text)
        text = RIGHT[".c"] + "/* " + "x" * 10_000 + " */\n"
        for n in range(N_DOCUMENTS):
            write(root, f"f{n}.c", text)
        session = Session(root, home)
        look = lambda n: session.call("lsp", action="symbols", file=f"f{n}.c")
        look(0)
        sizes = [session.resident_mb()]
        for n in range(1, 50):
            look(n)
        sizes.append(session.resident_mb())
        for n in range(50, N_DOCUMENTS):
            look(n)
        sizes.append(session.resident_mb())
        session.end()
    return sizes, len(text)


def has(command):
    return any(os.access(os.path.join(folder, command), os.X_OK) for folder in PATH.split(os.pathsep))


def main():
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for server, command, language, ending, files in (C, PYTHON):
            if not has(command[0]):
                print(f"{server} is missing and left out", file=sys.stderr)
                continue
            pull = server == "basedpyright"
            with tempfile.TemporaryDirectory() as root:
                root = os.path.realpath(root)
                for name, text in [*files, ("a" + ending, RIGHT[ending])]:
                    write(root, name, text)
                uri = f"file://{root}/a{ending}"
                session = Session(root, home)
                bare = Bare(command, root, pull)
                document = {"uri": uri, "languageId": language, "version": 1, "text": RIGHT[ending]}
                bare.tell("textDocument/didOpen", {"textDocument": document})
                for what, (tool, alone) in (
                    ("warm definition", definition(session, bare, ending, uri)),
                    ("write to diagnostic", diagnostics(session, bare, ending, uri, pull)),
                ):
                    rows.append((what, server, alone, tool))
                bare.end()
                session.end()
        print("| | server | server alone, ms | through the tool, ms | added, ms |\n| --- | --- | --- | --- | --- |")
        for what, server, alone, tool in rows:
            print(f"| {what} | {server} | {alone:.2f} | {tool:.2f} | {tool - alone:.2f} |")
        if has("clangd"):
            (first, full, many), size = memory(home)
            print(
                f"\nThe host: {first:.1f} MB with one document, {full:.1f} MB with the 50 that a server has open"
                f" ({(full - first) * 1024 / 49:.0f} KB for each of {size / 1024:.0f} KB),"
                f" {many:.1f} MB after {N_DOCUMENTS}."
            )


main()
