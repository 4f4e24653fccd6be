"""Drives a toolbox session as a harness would: python3 harness.py TOOLBOX; the session runs in the folder."""

import json
import subprocess
import sys

session = subprocess.Popen(
    [sys.argv[1], "session", "--questions"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)


def send(**line):
    print(json.dumps(line), file=session.stdin, flush=True)


def call(tool, **args):
    """Calls a tool and serves what comes up until its answer is there."""
    send(id=tool, tool=tool, args=args)
    for line in map(json.loads, session.stdout):
        event = line.get("event")
        if event == "call":  # a tool of ours
            send(**{"return": line["call"], "text": line["args"]["word"].upper()})
        elif event == "question" and line["card"]["kind"] == "approval":
            send(answer=line["question"], approve=True)
        elif event == "question":
            send(answer=line["question"], choices=[len(line["card"]["options"])])
        elif event is None and line.get("id") == tool:
            return line
    raise SystemExit("the session has ended")


send(list="tools")
print("tools:", any(tool["name"] == "ast_grep" for tool in json.loads(session.stdout.readline())["tools"]))
schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
send(register={"name": "shout", "tier": "exec", "description": "Says it louder.", "schema": schema})
print("registered:", json.loads(session.stdout.readline())["registered"])
print("shout:", call("shout", word="hello")["text"])
print("ask_user:", call("ask_user", question="Which?", options=[{"label": "a"}, {"label": "b"}])["data"]["labels"])
print("ast_grep:", call("ast_grep", pattern="f($A)", language="javascript")["data"]["matches"][0]["captures"])
session.stdin.close()
print("ended:", session.wait())
