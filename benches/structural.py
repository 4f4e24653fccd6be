#!/usr/bin/env python3
"""Runs the comparison of benches/structural: interleaved runs, medians, one Markdown table.

Usage: structural.py ROOT MODE TARGET_FOLDER. It starts programs and reads their exit, nothing else.
"""
import csv
import glob
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT, MODE, TARGET = sys.argv[1:4]
PEERS = os.path.join(ROOT, "venv", "a", "bin")
OURS = os.path.join(TARGET, "release", "toolbox")
ENGINE = max(
    (p for p in glob.glob(os.path.join(TARGET, "release", "deps", "engine-*")) if os.access(p, os.X_OK)),
    key=os.path.getmtime,
)
LANGUAGES = {
    "rs": "rust", "py": "python", "dart": "dart", "ts": "typescript",
    "js": "javascript", "c": "c", "java": "java", "go": "go",
}
N_RUNS = 1 if MODE == "quick" else 5
EVERYTHING = str(10**9)


def corpus(name, size="corpora_s"):
    """The folder of a language: the small corpus where there is one, else the large one."""
    for folder in (size, "corpora"):
        path = os.path.join(ROOT, folder, name)
        if os.path.isdir(path):
            return path
    return None


def once(command, out=subprocess.DEVNULL):
    """CPU seconds, wall seconds and peak MB of one run."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    # All three answer 1 for "nothing found"; anything else is no search and must not be timed as one.
    if child.returncode not in (0, 1):
        sys.exit(f"exit code {child.returncode} from: {' '.join(command)}")
    return used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss / 1024


def interleaved(commands, n_runs=N_RUNS):
    """Medians of CPU and wall and the highest peak per command, after one run each to warm the cache."""
    if n_runs > 1:
        for command in commands:
            once(command)
    runs = [[once(command) for command in commands] for _ in range(n_runs)]
    return [
        (
            statistics.median(run[i][0] for run in runs),
            statistics.median(run[i][1] for run in runs),
            max(run[i][2] for run in runs),
        )
        for i in range(len(commands))
    ]


def lines(command):
    with tempfile.TemporaryFile() as out:
        once(command, out)
        out.seek(0)
        return sum(1 for _ in out)


def ast_grep(pattern, language, folder):
    return [os.path.join(PEERS, "ast-grep"), "run", "-p", pattern, "-l", language, "--json=stream", folder]


def ours(pattern, language, folder, most=EVERYTHING):
    return [OURS, "-C", folder, "ast-grep", "-l", language, "--json", "--max-results", most, "--", pattern]


def engine(word, *args):
    return subprocess.run([ENGINE, word, *args], capture_output=True, text=True)


def patterns():
    with open(os.path.join(HERE, "patterns.tsv"), newline="") as table:
        for row in csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            if corpus(row[0]):
                yield row


def main_table():
    print("| language | kind | pattern | matches (ast-grep's) | CPU s | ast-grep CPU / ours | wall / `rg -c -F` | peak MB (ast-grep's) |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    by_kind = {}
    for name, pattern, literal, kind in patterns():
        language, folder = LANGUAGES[name], corpus(name)
        n_ours = lines([ENGINE, "search", language, pattern, folder])
        n_theirs = lines(ast_grep(pattern, language, folder))
        rg = [os.path.join(PEERS, "rg"), "-c", "-F", literal, folder]
        us, them, grep = interleaved([ours(pattern, language, folder), ast_grep(pattern, language, folder), rg])
        ratio = them[0] / us[0]
        by_kind.setdefault((language, kind), []).append(ratio)
        shown = pattern.replace("|", "\\|")
        print(f"| {language} | {kind} | `{shown}` | {n_ours} ({n_theirs}) | {us[0]:.3f} | {ratio:.1f} | {us[1] / grep[1]:.1f} | {us[2]:.0f} ({them[2]:.0f}) |", flush=True)
    print("\n| language | kind | least | median |")
    print("| --- | --- | ---: | ---: |")
    for (language, kind), ratios in sorted(by_kind.items()):
        print(f"| {language} | {kind} | {min(ratios):.1f} | {statistics.median(ratios):.1f} |")


FIRST_PAGE = [
    ("rs", "$X.unwrap()"), ("py", "return $X"), ("dart", "$A == null"), ("ts", "$X.map($F)"), ("c", "return $X;"),
]


def first_page():
    print("\nThe default 50 results over the large corpora against ast-grep's whole scan:\n")
    print("| language | pattern | wall s | ast-grep wall / ours |")
    print("| --- | --- | ---: | ---: |")
    for name, pattern in FIRST_PAGE:
        folder = corpus(name, "corpora")
        if not folder:
            continue
        language = LANGUAGES[name]
        us, them = interleaved(
            [ours(pattern, language, folder, "50"), ast_grep(pattern, language, folder)], min(N_RUNS, 3)
        )
        print(f"| {language} | `{pattern}` | {us[1]:.3f} | {them[1] / us[1]:.0f} |", flush=True)


def second_search():
    print("\nA second search over an unchanged tree in one run:\n")
    print("| language | pattern | CPU s | ast-grep CPU / ours | cache MB |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name, pattern, _, kind in patterns():
        if kind not in ("token-free", "block"):
            continue
        language, folder = LANGUAGES[name], corpus(name)
        answer = engine("again", language, pattern, folder).stdout.split()
        if len(answer) < 4:
            print(f"| {language} | `{pattern}` | failed | | |")
            continue
        them = interleaved([ast_grep(pattern, language, folder)], min(N_RUNS, 3))[0]
        print(f"| {language} | `{pattern}` | {float(answer[0]):.3f} | {them[0] / float(answer[0]):.0f} | {int(answer[3]) / 1e6:.0f} |", flush=True)


def big_file():
    print("\nOne file of 50 MB:\n")
    print("| pattern | wall s (ast-grep's) | peak MB (ast-grep's) |")
    print("| --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        piece = "pub fn f{0}(a: u32) -> u32 {{\n    let b = a + {0};\n    g(b).unwrap()\n}}\n\n"
        with open(os.path.join(folder, "big.rs"), "w") as out:
            size = n = 0
            while size < 50_000_000:
                size += out.write(piece.format(n))
                n += 1
            out.write("pub fn last() { rarely_called(1) }\n")
        for pattern in ("rarely_called($A)", "$X.unwrap()", "$X = $X"):
            us, them = interleaved([ours(pattern, "rust", folder), ast_grep(pattern, "rust", folder)], 1)
            print(f"| `{pattern}` | {us[1]:.2f} ({them[1]:.2f}) | {us[2]:.0f} ({them[2]:.0f}) |", flush=True)


def verify():
    """Compares every answer over the large corpora with that of full parses."""
    failed = False
    for name, language in LANGUAGES.items():
        folder = corpus(name, "corpora")
        if not folder:
            continue
        wanted = "".join(row[1] + "\n" for row in patterns() if row[0] == name)
        res = subprocess.run([ENGINE, "verify", language, folder], input=wanted, capture_output=True, text=True)
        n_same = sum(line.startswith("same\t") for line in res.stdout.splitlines())
        print(f"verify {language}: {n_same} of {wanted.count(chr(10))} patterns equal the full parse", flush=True)
        if res.returncode != 0:
            failed = True
            print(res.stdout, res.stderr, sep="\n")
    return failed


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    failed = False
    if MODE != "verify":
        main_table()
        first_page()
        second_search()
        big_file()
    if MODE in ("verify", "full"):
        failed = verify()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
