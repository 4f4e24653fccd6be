// Stands in front of a JavaScript kernel inside an enclosure, whose command carries no more than input and
// output: see relay.py.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const { constants } = require("node:os");
const put = (data) => {
  const bytes = Buffer.from(data);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") process.exit(0);
    }
  }
};
const shim = 'exec 3<&0 4>&1 </dev/null >&2; exec "$@"';
const kernel = spawn("sh", ["-c", shim, "sh", process.execPath, ...process.argv.slice(1)], {
  detached: true,
  stdio: ["pipe", "pipe", "pipe"],
});
let nRaw = 0;
let frames = [];
let forwarding = false;
kernel.stderr.on("data", (data) => {
  nRaw += 1;
  put(`\n{"t":"raw","data":"${data.toString("base64")}"}\n`);
});
// What was printed before a frame is in the pipe already: a turn without any says that it has come out.
function forward(seen) {
  setImmediate(() => {
    setImmediate(() => {
      if (nRaw !== seen) return forward(nRaw);
      forwarding = false;
      const all = Buffer.concat(frames);
      frames = [];
      put(all);
    });
  });
}
kernel.stdout.on("data", (data) => {
  frames.push(data);
  if (!forwarding) {
    forwarding = true;
    forward(nRaw);
  }
});
kernel.stdin.on("error", () => {});
const killGroup = (signal) => {
  try {
    process.kill(-kernel.pid, signal);
  } catch {
    // It has ended.
  }
};
let pending = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (data) => {
  const lines = (pending + data).split("\n");
  pending = lines.pop();
  for (const line of lines) {
    if (line.startsWith('{"t":"interrupt"')) killGroup("SIGINT");
    kernel.stdin.write(`${line}\n`);
  }
});
process.stdin.on("end", () => {
  kernel.stdin.end();
  setTimeout(() => {
    killGroup("SIGKILL");
    process.exit(0);
  }, 400);
});
process.on("SIGINT", () => {});
kernel.on("close", (code, signal) => {
  if (frames.length) put(Buffer.concat(frames));
  const how = signal ? `"signal":${constants.signals[signal]}` : `"code":${code}`;
  put(`\n{"t":"exit",${how}}\n`);
  killGroup("SIGKILL");
  process.exit(0);
});
kernel.on("exit", () => setTimeout(() => kernel.stdout.destroy() && kernel.stderr.destroy(), 300));
