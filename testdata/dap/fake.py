"""A debug adapter that misbehaves as its first argument says. It debugs nothing."""
import json
import os
import signal
import subprocess
import sys
import time

SCENARIO = sys.argv[1]
OUT = sys.stdout.buffer
IN = sys.stdin.buffer


def send(message):
    body = json.dumps(message).encode()
    OUT.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    OUT.flush()


def event(name, /, **body):
    send({"seq": 0, "type": "event", "event": name, "body": body})


def reply(request, **body):
    send({"seq": 0, "type": "response", "request_seq": request["seq"], "success": True,
          "command": request["command"], "body": body})


def refuse(request, **fields):
    send({"seq": 0, "type": "response", "request_seq": request["seq"], "success": False,
          "command": request["command"], "message": None, **fields})


def stop(reason="breakpoint", **body):
    event("stopped", reason=reason, threadId=1, allThreadsStopped=True, **body)


def end(code=0):
    event("exited", exitCode=code)
    event("terminated")


def read():
    length = None
    while True:
        line = IN.readline()
        if not line:
            return None
        if line.strip() == b"" and length is not None:
            return json.loads(IN.read(length))
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])


launch = None
pid = None
declined = []


def on_launch(request):
    global launch, pid
    if SCENARIO == "exit_early":
        sys.stderr.write("boom: no runtime\n")
        sys.stderr.flush()
        os._exit(7)
    if SCENARIO == "fail_launch":
        event("output", category="stderr", output="line 3: syntax error\n")
        refuse(request, message="Failed to launch: check the debug console")
        return
    if SCENARIO == "silent_launch":
        return
    if SCENARIO in ("child", "ignore_disconnect"):
        child = subprocess.Popen(["sleep", "600"], preexec_fn=os.setpgrp, stdout=subprocess.DEVNULL)
        event("process", name="sleep", systemProcessId=child.pid, isLocalProcess=True)
    if SCENARIO == "stranger":
        event("process", name="not mine", systemProcessId=os.getppid(), isLocalProcess=True)
    if SCENARIO == "early":
        reply(request)
        event("process", name="x")
        event("initialized")
        return
    launch = request
    event("initialized")
    if SCENARIO == "goes_on":
        stop("exception")


def on_configured(request):
    if SCENARIO == "goes_on":
        event("continued", threadId=1, allThreadsContinued=True)
        reply(request)
        reply(launch)
        time.sleep(0.5)
        stop("breakpoint")
        return
    if SCENARIO == "stop_first":
        stop("breakpoint")
        reply(request)
        reply(launch)
        return
    reply(request)
    if launch is not None:
        reply(launch)
    if SCENARIO == "reverse":
        for number, command in enumerate(["runInTerminal", "startDebugging"]):
            send({"seq": 900 + number, "type": "request", "command": command, "arguments": {}})
        return
    if SCENARIO == "garbage":
        OUT.write(b"hello from a print\n")
        OUT.flush()
    stop("breakpoint")


def on_continue(request):
    if SCENARIO == "no_exited":
        reply(request)
        event("terminated")
        event("terminated")
        return
    if SCENARIO == "flood":
        reply(request)
        for number in range(3000):
            event("output", category="stdout", output="%099d\n" % number)
        end()
        return
    if SCENARIO in ("stuck", "no_thread"):
        reply(request, allThreadsContinued=True)
        return
    if SCENARIO == "burst":
        reply(request)
        stop("step")
        return
    reply(request)
    event("continued", threadId=1)
    end(3)


def on_next(request):
    if SCENARIO == "stop_first":
        stop("step")
        reply(request)
        return
    if SCENARIO == "die_mid_step":
        sys.stderr.write("assertion failed in the adapter\n")
        sys.stderr.flush()
        os._exit(9)
    if SCENARIO == "burst":
        reply(request)
        stop("pause")
        event("continued", threadId=1)
        stop("step")
        return
    if SCENARIO == "refuse_step":
        refuse(request)
        return
    reply(request)
    stop("step")


def on_stack(request):
    thread = request["arguments"]["threadId"]
    levels = request["arguments"].get("levels") or 1000
    frames = [{"id": 100 + number, "name": "f%d" % number, "line": number + 1, "column": 1,
               "source": {"name": "a.fake", "path": os.path.join(os.getcwd(), "a.fake")}}
              for number in range(31 if thread == 1 else 30)]
    reply(request, stackFrames=frames[:levels])


def on_variables(request):
    reference = request["arguments"]["variablesReference"]
    if reference == 1000:
        rows = [{"name": "fifty", "value": "[50]", "type": "list", "variablesReference": 50},
                {"name": "more", "value": "[51]", "type": "list", "variablesReference": 51},
                {"name": "long", "value": "x" * 401, "variablesReference": 0},
                {"name": "whole", "value": "x" * 400, "variablesReference": 0}]
    else:
        rows = [{"name": str(n), "value": str(n), "variablesReference": 0} for n in range(reference)]
    reply(request, variables=rows)


def main():
    if SCENARIO == "ignore_disconnect":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        request = read()
        if request is None:
            if SCENARIO == "ignore_disconnect":
                signal.pause()
            return
        if request["type"] == "response":
            declined.append(request["success"])
            if len(declined) == 2:
                event("output", category="stdout", output="declined %s\n" % declined)
                stop("breakpoint")
            continue
        command = request["command"]
        if command == "initialize":
            if SCENARIO == "mute":
                continue
            reply(request, supportsConfigurationDoneRequest=True, supportsSetVariable=True)
        elif command in ("launch", "attach"):
            on_launch(request)
        elif command == "setBreakpoints":
            rows = [{"id": row["line"], "verified": row["line"] < 10,
                     "line": row["line"] + (1 if row["line"] == 5 else 0),
                     "message": None if row["line"] < 10 else "no code there"}
                    for row in request["arguments"]["breakpoints"]]
            reply(request, breakpoints=rows)
        elif command == "configurationDone":
            on_configured(request)
        elif command == "continue":
            on_continue(request)
        elif command == "next":
            on_next(request)
        elif command == "pause":
            reply(request)
            event("stopped", reason="pause")
        elif command == "threads":
            reply(request, threads=[{"id": 1, "name": "main"}, {"id": 2, "name": "other"}])
        elif command == "stackTrace":
            on_stack(request)
        elif command == "scopes":
            reply(request, scopes=[{"name": "Locals", "variablesReference": 1000}])
        elif command == "variables":
            on_variables(request)
        elif command == "evaluate":
            send({"seq": 0, "type": "response", "request_seq": request["seq"], "success": False,
                  "command": "", "message": None,
                  "body": {"error": {"format": "no symbol {name}", "variables": {"name": "q"}}}})
        elif command == "disconnect":
            if SCENARIO == "ignore_disconnect":
                continue
            reply(request)
            return
        else:
            refuse(request, message="unknown")


main()
