// The helper thread of a JavaScript kernel: it reads the host's frames while the main thread may be busy,
// and stops the main thread when it does not heed an interrupt.
"use strict";
const { parentPort, workerData } = require("node:worker_threads");
const inspector = require("node:inspector");
const net = require("node:net");

const { flags } = workerData;
const ACKNOWLEDGED = 0;
const HEEDED = 1;

function interrupt(frame) {
  parentPort.postMessage(frame);
  // Between two turns the message does it; a loop without turns must be terminated.
  const timer = setInterval(() => {
    if (Atomics.load(flags, HEEDED) === frame.id) {
      clearInterval(timer);
      return;
    }
    const session = new inspector.Session();
    session.connectToMainThread();
    session.post("Runtime.terminateExecution", () => session.disconnect());
  }, 150);
}

function deliver(line) {
  const frame = JSON.parse(line);
  if (frame.t === "ack") {
    Atomics.store(flags, ACKNOWLEDGED, frame.id);
    Atomics.notify(flags, ACKNOWLEDGED);
  } else if (frame.t === "interrupt") {
    interrupt(frame);
  } else {
    parentPort.postMessage(frame);
  }
}

const socket = new net.Socket({ fd: 3, readable: true, writable: false });
socket.setEncoding("utf8");
let pending = [];
socket.on("data", (chunk) => {
  for (;;) {
    const end = chunk.indexOf("\n");
    if (end < 0) break;
    pending.push(chunk.slice(0, end));
    const line = pending.join("");
    pending = [];
    chunk = chunk.slice(end + 1);
    if (line) deliver(line);
  }
  pending.push(chunk);
});
socket.on("end", () => parentPort.postMessage({ t: "end" }));
socket.on("error", () => parentPort.postMessage({ t: "end" }));
