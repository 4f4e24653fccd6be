"""A language server that does what its scenario says.

The scenario is a JSON object in the first argument:

  log            a file that gets every message received, one a line
  starts         a file that gets a line for every start
  initialize     "never", "exit", "error" or absent (answer)
  capabilities   what the answer has
  answers        method -> result, in which ${root} is the folder's address; a list under "answers_in_turn"
                 gives one after another, then the last
  errors         method -> list of [code, data] to answer before anything else
  stderr_bytes   how much to write to standard error first
  garbage        text to print before every message
  split          write byte by byte
  ask            requests to send after `initialized`; nothing else is answered until all are
  same_ids       send a request with the id of each request before answering it
  crash_on       a method to die on, after a word on standard error
  deaf_on        a method after which nothing is read any more
  mute_on        methods that are never answered
  stubborn       ignore SIGTERM, `shutdown` and the end of input, and start a child
  progress       [begin_on, end_after_s]: announce work when a method comes, end it later (never: null)
  busy_answers   method -> result while that work is under way
  publish        list of {on, after_s, items, version, file, about}: publish diagnostics when a method
                 comes; version "same" is that of the document, null is none, a number is itself;
                 `file` is the only file that it holds for, `about` another one beside it that it is about;
                 `doing` instead of items is what it says that it does with the file; `of` is the only version
                 of the document that it holds for
  surveys        what each `workspace/diagnostic` finds in turn, then the last: {file: items}; the items come
                 in parts, the announced work ends, and the answer is held back
  endless_surveys  that work never ends
  compiler       {begins_s, lasts_s}: loaded from the start; each save runs a check, which cancels the one that
                 runs and then says of every file of the root whether it has the word BAD
  listing        [first_s, again_s, name]: log how many files it found after `initialized` and again after
                 news of watched files that have the name, for which it first asks that diagnostics be pulled
                 again; answers come from `busy_answers` until it has (never: null)
  unchecked      announce that there is a file to check when a document is closed, and never end that
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

scenario = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
out = sys.stdout.buffer
lock = threading.Lock()
working = threading.Event()
checking = threading.Event()
turns = {}
root = ""
version = {}


def send(message):
    body = json.dumps(message).encode()
    frame = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    with lock:
        if scenario.get("garbage"):
            out.write(scenario["garbage"].encode())
        if scenario.get("split"):
            for byte in frame:
                out.write(bytes([byte]))
                out.flush()
        else:
            out.write(frame)
            out.flush()


def read():
    length = None
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            return None
        line = line.strip()
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        elif not line and length is not None:
            return json.loads(sys.stdin.buffer.read(length))


def note(message):
    if scenario.get("log"):
        with open(scenario["log"], "a") as log:
            log.write(json.dumps(message) + "\n")


def forever():
    while True:
        signal.pause()


def later(seconds, message):
    timer = threading.Timer(seconds, send, [message])
    timer.daemon = True
    timer.start()


def end_work():
    working.clear()
    send({"jsonrpc": "2.0", "method": "$/progress",
          "params": {"token": "ANALYZING", "value": {"kind": "end"}}})


def check(kind):
    value = {"kind": kind, "title": "cargo check"}
    send({"jsonrpc": "2.0", "method": "$/progress",
          "params": {"token": "rust-analyzer/flycheck/0", "value": value}})


def after(seconds, do, *args):
    timer = threading.Timer(seconds, do, args)
    timer.daemon = True
    timer.start()


def compile_soon():
    turns["check"] = number = turns.get("check", 0) + 1
    if checking.is_set():
        checking.clear()
        check("end")
    after(scenario["compiler"]["begins_s"], begin_check, number)


def begin_check(number):
    if number == turns["check"]:
        checking.set()
        check("begin")
        after(scenario["compiler"]["lasts_s"], end_check, number)


def end_check(number):
    if number != turns["check"]:
        return
    folder = root.replace("file://", "", 1)
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            bad = "BAD" in file.read()
        place = {"line": 0, "character": 0}
        item = {"range": {"start": place, "end": place}, "severity": 1, "message": "it is bad"}
        send({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics",
              "params": {"uri": root + "/" + name, "diagnostics": [item] if bad else []}})
    checking.clear()
    check("end")


def list_files(after):
    def found():
        working.clear()
        send({"jsonrpc": "2.0", "method": "window/logMessage",
              "params": {"type": 3, "message": "Found 2 source files"}})

    working.set()
    if after is not None:
        timer = threading.Timer(after, found)
        timer.daemon = True
        timer.start()


def survey(params):
    turn = turns.get("survey", 0)
    turns["survey"] = turn + 1
    found = scenario["surveys"][min(turn, len(scenario["surveys"]) - 1)]

    def progress(token, value):
        send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": token, "value": value}})

    progress(params["workDoneToken"], {"kind": "begin", "title": "Checking"})
    for file, items in found.items():
        report = {"uri": root + "/" + file, "version": None, "kind": "full", "resultId": str(turn),
                  "items": items}
        progress(params["partialResultToken"], {"items": [report]})
    if not scenario.get("endless_surveys"):
        progress(params["workDoneToken"], {"kind": "end"})


def answer(method, number, params):
    global root
    errors = scenario.get("errors", {}).get(method)
    if errors:
        code, data = errors.pop(0)
        error = {"code": code, "message": "not now"}
        if data is not None:
            error["data"] = data
        return send({"jsonrpc": "2.0", "id": number, "error": error})
    if method == "initialize":
        root = params["rootUri"]
        how = scenario.get("initialize")
        if how == "never":
            return None
        if how == "exit":
            sys.stderr.write("error: no component here\nbacktrace line\n")
            sys.stderr.flush()
            os._exit(1)
        if how == "error":
            error = {"code": -32603, "message": "Could not find a valid installation"}
            return send({"jsonrpc": "2.0", "id": number, "error": error})
        capabilities = {"textDocumentSync": 1, **scenario.get("capabilities", {})}
        result = {"capabilities": capabilities, "serverInfo": {"name": "fake", "version": "7.1"}}
        return send({"jsonrpc": "2.0", "id": number, "result": result})
    if method == "workspace/diagnostic" and "surveys" in scenario:
        return survey(params)
    if method == "shutdown":
        if scenario.get("stubborn"):
            return None
        return send({"jsonrpc": "2.0", "id": number, "result": None})
    if working.is_set() and method in scenario.get("busy_answers", {}):
        result = scenario["busy_answers"][method]
        return send({"jsonrpc": "2.0", "id": number, "result": result})
    in_turn = scenario.get("answers_in_turn", {}).get(method)
    if in_turn:
        turn = turns.get(method, 0)
        turns[method] = turn + 1
        result = in_turn[min(turn, len(in_turn) - 1)]
    elif method in scenario.get("answers", {}):
        result = json.loads(json.dumps(scenario["answers"][method]).replace("${root}", root))
    elif method == "textDocument/documentSymbol":
        result = []
    elif method.startswith("$/"):
        return send({"jsonrpc": "2.0", "id": number,
                     "error": {"code": -32601, "message": "unknown"}})
    else:
        result = None
    send({"jsonrpc": "2.0", "id": number, "result": result})


def events(method, params):
    document = params.get("textDocument", {}) if isinstance(params, dict) else {}
    if "version" in document:
        version[document["uri"]] = document["version"]
    if "compiler" in scenario and method == "initialized":
        send({"jsonrpc": "2.0", "method": "experimental/serverStatus",
              "params": {"health": "ok", "quiescent": True, "message": None}})
    if "compiler" in scenario and method == "textDocument/didSave":
        compile_soon()
    progress = scenario.get("progress")
    if progress and progress[0] == method:
        value = {"kind": "begin", "title": "Analyzing…"}
        send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": "ANALYZING", "value": value}})
        working.set()
        if progress[1] is not None:
            timer = threading.Timer(progress[1], end_work)
            timer.daemon = True
            timer.start()
    if scenario.get("unchecked") and method == "textDocument/didClose":
        value = {"kind": "begin", "title": "", "message": "1 file to analyze"}
        send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": "CHECKING", "value": value}})
    listing = scenario.get("listing")
    if listing and method == "initialized":
        list_files(listing[0])
    if listing and method == "workspace/didChangeWatchedFiles":
        if any(listing[2] in change["uri"] and change["type"] != 2 for change in params["changes"]):
            send({"jsonrpc": "2.0", "id": "pull", "method": "workspace/diagnostic/refresh"})
            list_files(listing[1])
    for publication in scenario.get("publish", []):
        uri = document.get("uri", "")
        if publication.get("of", version.get(uri)) != version.get(uri):
            continue
        if publication["on"] == method and uri.endswith(publication.get("file", "")):
            if "about" in publication:
                uri = uri.rsplit("/", 1)[0] + "/" + publication["about"]
            if "doing" in publication:
                later(publication.get("after_s", 0), {
                    "jsonrpc": "2.0", "method": "textDocument/clangd.fileStatus",
                    "params": {"uri": uri, "state": publication["doing"]}})
                continue
            params = {"uri": uri, "diagnostics": publication["items"]}
            number = publication.get("version")
            if number == "same":
                number = version.get(uri)
            if number is not None:
                params["version"] = number
            message = {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}
            later(publication.get("after_s", 0), message)


def main():
    if scenario.get("starts"):
        with open(scenario["starts"], "a") as starts:
            starts.write("%d\n" % os.getpid())
    if scenario.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, process_group=0)
    if scenario.get("stderr_bytes"):
        sys.stderr.write(("x" * 99 + "\n") * (scenario["stderr_bytes"] // 100))
        sys.stderr.write("the last line\n")
        sys.stderr.flush()
    waiting = []
    asked = 0
    while True:
        message = read()
        if message is None:
            if scenario.get("stubborn"):
                forever()
            return
        note(message)
        method = message.get("method")
        if method is None:
            asked -= 1
            if asked == 0:
                for held in waiting:
                    answer(held["method"], held["id"], held.get("params"))
                waiting = []
            continue
        if method == scenario.get("crash_on"):
            sys.stderr.write("panic: the fake falls over\n")
            sys.stderr.flush()
            os._exit(3)
        events(method, message.get("params"))
        if method == "initialized":
            for number, request in enumerate(scenario.get("ask", [])):
                asked += 1
                send({"jsonrpc": "2.0", "id": number, **request})
        if method == "exit" and not scenario.get("stubborn"):
            return
        if "id" in message and method not in scenario.get("mute_on", []):
            if scenario.get("same_ids") and method != "initialize":
                send({"jsonrpc": "2.0", "id": message["id"], "method": "workspace/configuration",
                      "params": {"items": [{"section": "a"}, {"section": "b"}]}})
            if asked > 0:
                waiting.append(message)
            else:
                answer(method, message["id"], message.get("params"))
        if method == scenario.get("deaf_on"):
            forever()


if __name__ == "__main__":
    main()
