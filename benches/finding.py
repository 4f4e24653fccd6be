#!/usr/bin/env python3
"""Compares `toolbox glob` and `toolbox grep` with ripgrep, process start included.

    benches/finding.py TOOLBOX RG CORPUS [RUNS]

Every row runs both commands in turn, RUNS times (15), and prints the medians of wall time and of processor
time (user and system, all threads) and their ratios. On a machine that others use as well the processor time
is the steadier of the two. Answers are taken through a pipe and compared where both give the same one.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def run(command, folder, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1e3, cpu * 1e3, done.stdout


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    toolbox, rg, corpus = (os.path.abspath(path) for path in sys.argv[1:4])
    runs = int(sys.argv[4]) if len(sys.argv) == 5 else 15
    here = [toolbox, "-C", "."]
    with tempfile.TemporaryDirectory() as place:
        empty = os.path.join(place, "empty")
        os.mkdir(empty)
        environment = {"HOME": place, "PATH": "/usr/bin:/bin"}
        rows = [
            ("an empty folder", empty, [rg, "--files"], here + ["glob", "**/*"], False),
            ("all files, by path", corpus, [rg, "--files"], here + ["glob", "**/*", "--sort", "path"], True),
            ("all files, newest first", corpus, [rg, "--files"], here + ["glob", "**/*"], True),
            (
                "the same, rg sorting too",
                corpus,
                [rg, "--files", "--sortr", "modified"],
                here + ["glob", "**/*"],
                True,
            ),
            ("*.rs, by path", corpus, [rg, "--files", "-g", "*.rs"], here + ["glob", "*.rs", "--sort", "path"], True),
            ("a word, nowhere", corpus, [rg, "-n", "zzqqxxyy"], here + ["grep", "zzqqxxyy"], False),
            ("a word, names", corpus, [rg, "-l", "unwrap"], here + ["grep", "-l", "unwrap"], True),
            ("a word, counts", corpus, [rg, "-c", "unwrap"], here + ["grep", "-c", "unwrap"], True),
            ("a regex, lines", corpus, [rg, "-n", r"fn \w+_test"], here + ["grep", r"fn \w+_test"], False),
        ]
        print(f"{'':26}{'rg ms':>9}{'cpu':>8}{'toolbox':>9}{'cpu':>8}{'wall x':>8}{'cpu x':>8}")
        for name, folder, other, own, same in rows:
            one, two = [], []
            for _ in range(runs):
                one.append(run(other, folder, environment))
                two.append(run(own, folder, environment))
            if same:
                lists = [sorted(rows[-1][2].splitlines()) for rows in (one, two)]
                if lists[0] != lists[1]:
                    name += " (!)"
            wall, cpu, own_wall, own_cpu = (
                statistics.median(row[column] for row in rows)
                for rows in (one, two)
                for column in (0, 1)
            )
            print(
                f"{name:26}{wall:9.1f}{cpu:8.1f}{own_wall:9.1f}{own_cpu:8.1f}"
                f"{own_wall / wall:8.2f}{own_cpu / cpu:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
