#!/usr/bin/env python3
"""What a call costs, and what a command costs: prints one Markdown table.

Usage: session.py [TOOLBOX]. It makes a folder with one file, calls a tool of a session ten thousand times,
once all at once and once one after the other, and starts `toolbox read FILE` and `toolbox --version`.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOOLBOX = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "toolbox"
N_CALLS = 10_000
N_STARTS = 100


def line(number):
    call = {"id": number, "tool": "Read", "args": {"path": "a.txt"}}
    return (json.dumps(call) + "\n").encode()


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(count, work, *given):
    """What one of `count` pieces of work takes: by the clock, and of the processors."""
    before = cpu()
    took = work(*given)
    return took, (cpu() - before) / count


def session(folder, env):
    return subprocess.Popen([TOOLBOX, "session"], cwd=folder, env=env,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def good(answer):
    if not json.loads(answer)["ok"]:
        sys.exit(f"a call failed: {answer}")


def one_by_one(folder, env):
    with session(folder, env) as run:
        started = None
        for number in range(N_CALLS + 1):
            run.stdin.write(line(number))
            run.stdin.flush()
            while b'"event"' in (answer := run.stdout.readline()):
                pass
            good(answer)
            # The first call waits for the start of the process.
            started = started or time.perf_counter()
        took = time.perf_counter() - started
        run.stdin.close()
    return took / N_CALLS


def pipelined(folder, env):
    with session(folder, env) as run:
        run.stdin.write(line(-1))
        run.stdin.flush()
        while b'"event"' in run.stdout.readline():
            pass
        started = time.perf_counter()
        # No more than may wait at once.
        room = threading.Semaphore(4_096)

        def write():
            for number in range(N_CALLS):
                room.acquire()
                run.stdin.write(line(number))
                run.stdin.flush()

        writer = threading.Thread(target=write)
        writer.start()
        left = N_CALLS
        while left:
            answer = run.stdout.readline()
            if b'"event"' not in answer:
                left -= 1
                room.release()
        took = time.perf_counter() - started
        writer.join()
        run.stdin.close()
    return took / N_CALLS


def start(command, folder, env):
    times = []
    for _ in range(N_STARTS):
        began = time.perf_counter()
        subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main():
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, "checkout")
        os.makedirs(os.path.join(folder, ".git"))
        with open(os.path.join(folder, "a.txt"), "w") as file:
            file.write("one\n")
        env = {"HOME": home, "PATH": os.environ["PATH"]}
        rows = [
            ("a call of a session, one after the other", 1e6, "µs", N_CALLS, one_by_one, ()),
            ("a call of a session, all at once", 1e6, "µs", N_CALLS, pipelined, ()),
            ("`toolbox read FILE`", 1e3, "ms", N_STARTS, start, ([TOOLBOX, "read", "a.txt"],)),
            ("`toolbox --version`", 1e3, "ms", N_STARTS, start, ([TOOLBOX, "--version"],)),
            ("`/bin/true`, for comparison", 1e3, "ms", N_STARTS, start, (["/bin/true"],)),
        ]
        print("| what | by the clock | CPU |\n| --- | ---: | ---: |")
        for name, scale, unit, count, work, given in rows:
            clock, used = measured(count, work, *given, folder, env)
            print(f"| {name} | {clock * scale:.1f} {unit} | {used * scale:.1f} {unit} |")


main()
