// The JavaScript half of a kernel: it runs cells and talks to the host over two private pipes.
//
// Cells run by V8's own mode for consoles (Runtime.evaluate with replMode), which lets them declare a name
// again and await at the top. A helper thread reads the pipe, so that an interrupt reaches a loop that never
// yields.
//
// This half runs in a context of its own: its arrays, promises and strings have prototypes that no cell can
// reach, so that nothing a cell does to the language reaches the kernel. `main` is the context of the cells;
// what cells get to see is made of its classes.
(function (kernel) {
  "use strict";
  const { require, dynamicImport, helperSource, main } = kernel;
  const { Buffer, clearInterval, globalThis, process, setImmediate, setInterval } = main;
  const fs = require("node:fs");
  const inspector = require("node:inspector");
  const path = require("node:path");
  const url = require("node:url");
  const util = require("node:util");
  const vm = require("node:vm");
  const { Writable } = require("node:stream");
  const { Worker } = require("node:worker_threads");
  const { parse, stringify } = JSON;
  const { wait, load, store } = Atomics;
  const { assign, create, defineProperty, entries, getOwnPropertyDescriptor, hasOwn } = Object;
  const { apply } = Reflect;
  const { prototype } = main.Object;
  const { Error: UserError, Promise: UserPromise, SyntaxError: UserSyntaxError, Uint8Array: UserBytes } = main;
  const toBuffer = Buffer.from;
  const bufferText = Buffer.prototype.toString;
  const errorText = UserError.prototype.toString;
  const cwd = process.cwd();
  const exit = process.exit.bind(process);
  const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));
  // A promise of a cell is awaited by the cells' own language, which looks at no `then` that a cell has put in.
  const awaitIn = vm.runInThisContext(
    "(async (value, ok, bad) => { let res; try { res = await value; } catch (error) { bad(error); return; } ok(res); })",
    { filename: "<kernel>" },
  );
  // What it comes to stands in an object, so that nothing looks at a `then` of it.
  const settled = (value) =>
    new Promise((resolve, reject) => {
      awaitIn(value, (value) => resolve({ value }), (error) => reject(error));
    });

  const OUTGOING = 4;
  const identity = (fd) => {
    const status = fs.fstatSync(fd);
    return `${status.dev}:${status.ino}`;
  };
  const known = identity(OUTGOING);
  const flags = new Int32Array(new SharedArrayBuffer(16));
  const ACKNOWLEDGED = 0;
  const HEEDED = 1;
  const SLEEP = 2;

  function put(fd, data) {
    let at = 0;
    while (at < data.length) {
      try {
        at += fs.writeSync(fd, data, at);
      } catch (error) {
        // A child may have made the shared pipe non-blocking.
        if (error.code !== "EAGAIN") throw error;
        wait(flags, SLEEP, 0, 2);
      }
    }
  }

  // A `toJSON` that a cell gave to every object must not reach the protocol: it is put aside, and what is
  // returned puts it back.
  function putAside() {
    const own = getOwnPropertyDescriptor(prototype, "toJSON");
    if (own === undefined || !own.configurable) return undefined;
    delete prototype.toJSON;
    return () => {
      if (getOwnPropertyDescriptor(prototype, "toJSON") === undefined) defineProperty(prototype, "toJSON", own);
    };
  }

  function undisturbed(work) {
    const putBack = putAside();
    try {
      return work();
    } finally {
      putBack?.();
    }
  }

  const bytesOf = (text) => apply(toBuffer, Buffer, [text]);
  const textOf = (buffer, encoding) => apply(bufferText, buffer, [encoding]);
  const clean = (text) =>
    typeof text.isWellFormed === "function" && text.isWellFormed() ? text : textOf(bytesOf(text), "utf8");

  function send(frame) {
    let same = false;
    try {
      same = identity(OUTGOING) === known;
    } catch {
      // It was closed.
    }
    if (!same) {
      // A frame would land in a file of the user.
      fs.writeSync(2, "the pipe to the host was closed by the cell\n");
      exit(70);
    }
    try {
      // The line end in front sets off whatever somebody else wrote to the pipe.
      put(OUTGOING, bytesOf(`\n${undisturbed(() => stringify(frame))}\n`));
    } catch {
      exit(0);
    }
  }

  // Streams that write at once and leave the pipe as it is: children share it, and Node's own would make
  // it non-blocking for them.
  function stream(fd) {
    const made = new Writable({
      decodeStrings: true,
      write(chunk, encoding, done) {
        try {
          put(fd, chunk);
          done();
        } catch (error) {
          done(error.code === "EPIPE" ? undefined : error);
        }
      },
    });
    made.fd = fd;
    made.isTTY = false;
    made._type = "pipe";
    made.destroy = () => made;
    made.end = (chunk, ...rest) => {
      if (chunk !== undefined && typeof chunk !== "function") made.write(chunk, ...rest);
      return made;
    };
    return made;
  }
  const streams = { stdout: stream(1), stderr: stream(2) };
  for (const [name, value] of entries(streams)) {
    defineProperty(process, name, { configurable: true, enumerable: true, get: () => value });
  }

  // Cells.

  const session = new inspector.Session();
  session.connect();
  const post = (...args) => undisturbed(() => session.post(...args));
  let current = null;
  let lastId = 0;
  let lastValue;
  const waiting = new Map();
  const sources = new Map();

  // Values of the inspector become values of the language by way of a private function.
  let taken;
  let takerId;
  {
    const key = Symbol("take");
    globalThis[key] = (value) => {
      taken = value;
    };
    const find = "globalThis[Object.getOwnPropertySymbols(globalThis).find((s) => s.description === 'take')]";
    session.post("Runtime.evaluate", { expression: find }, (error, reply) => {
      takerId = reply.result.objectId;
    });
    delete globalThis[key];
  }

  function take(remote) {
    const argument = {};
    for (const name of ["objectId", "unserializableValue", "value"]) {
      if (hasOwn(remote, name)) {
        argument[name] = remote[name];
        break;
      }
    }
    taken = undefined;
    post(
      "Runtime.callFunctionOn",
      {
        objectId: takerId,
        functionDeclaration: "function (value) { this(value); }",
        arguments: [argument],
        silent: true,
      },
      () => {},
    );
    const value = taken;
    taken = undefined;
    return value;
  }

  // Before version 12 V8 brings the value of a cell in an object that it resolves a promise with: a `then` that
  // the cell gave to every object is called with it, and the value never comes.
  const v8 = parseInt(process.versions.v8, 10);
  const valueGoesThroughThen = v8 < 12;
  // Before version 11 it awaits with the `then` that a cell may have put on promises.
  const awaitsByThen = v8 < 11;
  const promiseThen = UserPromise.prototype.then;
  const promiseNow = UserPromise.resolve.bind(UserPromise);
  const hasThen = () => getOwnPropertyDescriptor(prototype, "then") !== undefined;

  /// Looks whether the value of a cell can still come; a `then` that keeps it is taken away.
  function watchThen(isThere, lost) {
    let looks = 0;
    let works = true;
    const timer = setInterval(() => {
      looks = hasThen() || !works ? looks + 1 : 0;
      if (isThere() || looks === 2) clearInterval(timer);
      if (isThere()) return;
      if (looks === 2) {
        delete prototype.then;
        if (awaitsByThen) UserPromise.prototype.then = promiseThen;
        lost();
      } else if (awaitsByThen && UserPromise.prototype.then !== promiseThen) {
        // Libraries wrap it, and their cells get their values.
        works = false;
        try {
          apply(UserPromise.prototype.then, promiseNow(), [() => void (works = true)]);
        } catch {
          // It does not work.
        }
      }
    }, 200);
  }

  function evaluate(expression) {
    return new Promise((resolve) => {
      let come = false;
      const putBack = putAside();
      // It is back before the cell runs: the text of the cell is the last that is written.
      const toJSON = () => {
        putBack();
        return expression;
      };
      session.post(
        "Runtime.evaluate",
        {
          replMode: true,
          awaitPromise: true,
          silent: true,
          objectGroup: "cell",
          expression: putBack === undefined ? expression : { toJSON },
        },
        // What has a prototype of the language's could have got a `then` from a cell.
        (error, reply) => {
          come = true;
          resolve(assign(create(null), error ? { terminated: true } : reply));
        },
      );
      if (valueGoesThroughThen && !come) watchThen(() => come, () => resolve({ lost: true }));
    });
  }

  const png = [0x89, 0x50, 0x4e, 0x47];
  const jpeg = [0xff, 0xd8, 0xff];
  const startsWith = (bytes, magic) => magic.every((byte, at) => bytes[at] === byte);
  const isBytes = (value) => value instanceof UserBytes;

  function encoded(value) {
    if (typeof value === "string") return clean(value);
    if (isBytes(value)) return textOf(bytesOf(value), "base64");
    return clean(stringify(value) ?? "null");
  }

  async function bundle(value, quoted) {
    const plain = () =>
      typeof value === "string" && !quoted ? value : util.inspect(value, { colors: false });
    const data = create(null);
    if (value !== null && typeof value === "object") {
      const own = value[Symbol.for("Jupyter.display")];
      if (typeof own === "function") {
        try {
          const parts = (await settled(apply(own, value, []))).value;
          for (const [mime, part] of entries(parts)) data[mime] = encoded(part);
        } catch {
          // A representation that fails is none.
        }
      } else if (isBytes(value) && value.length > 8) {
        if (startsWith(value, png)) data["image/png"] = encoded(value);
        if (startsWith(value, jpeg)) data["image/jpeg"] = encoded(value);
      }
    }
    data["text/plain"] ??= clean(plain());
    return data;
  }

  /// Hands a display to the host and waits until it stands in its place in the output.
  function show(kind, data) {
    if (current === null) {
      put(1, bytesOf(`${data["text/plain"]}\n`));
      return;
    }
    const id = ++lastId;
    send({ t: kind, id, cell: current, data });
    for (;;) {
      const seen = load(flags, ACKNOWLEDGED);
      if (seen === id) return;
      wait(flags, ACKNOWLEDGED, seen, 1000);
    }
  }

  function displayOne(value) {
    if (value !== null && typeof value === "object" && !isBytes(value)) {
      const own = value[Symbol.for("Jupyter.display")];
      if (typeof own === "function") {
        const parts = apply(own, value, []);
        if (parts && !util.types.isPromise(parts)) {
          const data = create(null);
          for (const [mime, part] of entries(parts)) data[mime] = encoded(part);
          data["text/plain"] ??= clean(util.inspect(value));
          show("display", data);
          return;
        }
      }
    }
    const data = create(null);
    if (isBytes(value) && startsWith(value, png)) data["image/png"] = encoded(value);
    if (isBytes(value) && startsWith(value, jpeg)) data["image/jpeg"] = encoded(value);
    data["text/plain"] = clean(typeof value === "string" ? value : util.inspect(value));
    show("display", data);
  }

  const display = (...values) => values.forEach(displayOne);
  const shownAs = (mime) => (data) =>
    show("display", { [mime]: encoded(data), "text/plain": mime.startsWith("text/") ? clean(String(data)) : "" });
  display.html = shownAs("text/html");
  display.markdown = shownAs("text/markdown");
  display.svg = shownAs("image/svg+xml");
  display.png = shownAs("image/png");

  class ToolError extends UserError {
    constructor(message, kind, hint) {
      super(hint ? `${message} (hint: ${hint})` : message);
      this.name = "ToolError";
      this.kind = kind;
      if (hint) this.hint = hint;
    }
  }

  function call(name, args, shape) {
    return new UserPromise((resolve, reject) => {
      if (current === null) throw new ToolError("tool() works while a cell runs, and none does", "failed");
      const text = stringify(args ?? {});
      const id = ++lastId;
      waiting.set(id, { resolve: (reply) => resolve(shape(reply)), reject, cell: current });
      send({ t: "call", id, cell: current, name: clean(String(name)), args: text });
    });
  }

  const full = (name, args) => call(name, args, (reply) => reply);
  const tool = (name, args) =>
    call(name, args, (reply) => (reply.text || reply.images.length ? reply.text : reply.data));
  tool.full = full;
  tool.Error = ToolError;

  function settle(frame) {
    const call = waiting.get(frame.id);
    if (!call) return;
    waiting.delete(frame.id);
    if (frame.err !== undefined) {
      call.reject(new ToolError(frame.err, frame.kind, frame.hint));
      return;
    }
    // The helper thread's message is made of the cells' classes, and so is what becomes of it.
    const { images } = frame.val;
    for (let at = 0; at < images.length; at++) {
      images[at].data = apply(toBuffer, Buffer, [images[at].data, "base64"]);
    }
    call.resolve(frame.val);
  }

  // What `error.stack` holds: the user's frames, and not those below that run the cell.
  UserError.prepareStackTrace = (error, frames) => {
    let text;
    try {
      text = apply(errorText, error, []);
    } catch {
      text = "Error";
    }
    for (let at = 0; at < frames.length; at++) {
      const file = frames[at].getFileName();
      if (file === "node:inspector") break;
      if (file !== "<kernel>") text += `\n    at ${frames[at]}`;
    }
    return text;
  };

  // The user's frames of a stack, with the line of the first.
  function trace(error) {
    let stack;
    try {
      stack = String(error.stack);
      if (!stack.includes(error.message)) stack = `${error}\n${stack}`;
    } catch {
      stack = "an error whose text cannot be read";
    }
    const lines = stack.split("\n");
    const isFrame = (line) => /^\s+at /.test(line);
    const isForeign = (line) =>
      isFrame(line) && /\(?(node:|<kernel>|\[eval\d*\])|at new Promise \(<anonymous>\)/.test(line);
    const last = lines.findLastIndex
      ? lines.findLastIndex((line) => isFrame(line) && line.includes("cell-"))
      : lines.length - 1;
    const kept = lines.filter((line, at) => !isForeign(line) && (!isFrame(line) || at <= last));
    const place = /cell-(\d+)\.js:(\d+)/.exec(kept.filter(isFrame)[0] ?? "");
    const source = place && sources.get(Number(place[1]))?.split("\n")[Number(place[2]) - 1];
    const head = source === undefined || source === null ? "" : `cell-${place[1]}.js:${place[2]}\n    ${source.trim()}\n`;
    const text = head + kept.join("\n");
    return text.length > 18000 ? `${text.slice(0, 9000)}\n[...]\n${text.slice(-9000)}` : text;
  }

  function describe(error, details, n) {
    const isError = util.types.isNativeError(error) || error instanceof UserError;
    if (!isError) {
      const text = clean(util.inspect(error));
      return { etype: error?.constructor?.name ?? typeof error, msg: text, tb: `Uncaught ${text}` };
    }
    let tb = trace(error);
    if (error instanceof UserSyntaxError && details && n !== undefined && !tb.includes("\n    at ")) {
      const source = sources.get(n)?.split("\n")[details.lineNumber];
      if (source !== undefined) {
        const caret = `${" ".repeat(Math.min(details.columnNumber, source.length))}^`;
        tb = `cell-${n}.js:${details.lineNumber + 1}\n    ${source}\n    ${caret}\n${tb}`;
      }
    }
    let etype = "Error";
    let msg = "";
    try {
      etype = String(error.name);
      msg = String(error.message);
    } catch {
      // Getters may throw.
    }
    return { etype: clean(etype), msg: clean(msg), tb: clean(tb) };
  }

  function finish(id, done) {
    if (current !== id) return;
    current = null;
    for (const [call, { cell }] of waiting) {
      if (cell === id) send({ t: "cancel", id: call });
    }
    post("Runtime.releaseObjectGroup", { objectGroup: "cell" }, () => {});
    send({ t: "done", id, ...done });
  }

  /// Keeps the last value as `_`, unless the user has one or lets nobody have any.
  function remember(value) {
    try {
      if (!("_" in globalThis) || globalThis._ === lastValue) globalThis._ = lastValue = value;
    } catch {
      // The global object is frozen.
    }
  }

  async function run(frame) {
    const { id, n } = frame;
    let { code, echo } = frame;
    current = id;
    sources.set(n, frame.source ?? code);
    if (/^\s*\{/.test(code) && !/;\s*$/.test(code)) {
      // What could be a block is an object where it parses as one, as in consoles.
      try {
        new vm.Script(`(async () => (${code}\n))`);
        code = `(${code}\n)`;
        echo = true;
      } catch {
        // It is a block.
      }
    }
    let done = { status: "ok" };
    try {
      const reply = await evaluate(`${code}\n//# sourceURL=cell-${n}.js`);
      if (current !== id) return;
      if (reply.terminated) {
        done = { status: "interrupted" };
      } else if (reply.lost) {
        const msg = "a then on a prototype kept the value of the cell, and was taken away";
        done = { status: "error", etype: "Error", msg, tb: `Error: ${msg}` };
      } else if (reply.exceptionDetails) {
        const { exception } = reply.exceptionDetails;
        done = { status: "error", ...describe(exception ? take(exception) : undefined, reply.exceptionDetails, n) };
      } else {
        let value = take(reply.result);
        if (echo) {
          if (util.types.isPromise(value)) ({ value } = await settled(value));
          if (current !== id) return;
          if (value !== undefined) {
            const data = await bundle(value, true);
            if (current !== id) return;
            done.data = data;
            remember(value);
          }
        }
      }
    } catch (error) {
      done = { status: "error", ...describe(error) };
    }
    // Rejections that nobody handles are known after the current turn.
    await nextTurn();
    finish(id, done);
  }

  function complain(what, error) {
    try {
      put(2, bytesOf(`${what}: ${clean(describe(error).tb)}\n`));
    } catch {
      // Nobody reads it.
    }
  }
  process.on("unhandledRejection", (reason) => complain("Unhandled rejection", reason));
  process.on("uncaughtException", (error) => complain("Uncaught", error));
  // The group gets SIGINT for the commands in it; the kernel itself is interrupted by a frame.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => exit(0));

  const define = (name, value) =>
    defineProperty(globalThis, name, { configurable: true, enumerable: false, writable: true, value });
  define("tool", tool);
  define("display", display);
  define("require", require);
  define("__dirname", cwd);
  define("prompt", () => {
    throw new UserError('prompt() has nobody to answer it here: ask with await tool("ask_user", {"question": "..."})');
  });
  defineProperty(globalThis, "__toolbox_import", { value: (name, options) => dynamicImport(name, options) });
  defineProperty(globalThis, "__toolbox_meta", {
    value: {
      dirname: cwd,
      filename: path.join(cwd, "cell.js"),
      url: url.pathToFileURL(path.join(cwd, "cell.js")).href,
      resolve: (name) => url.pathToFileURL(require.resolve(name)).href,
    },
  });
  // A name that the user deletes or overwrites and deletes is there again.
  globalThis.__proto__.tool = tool;
  globalThis.__proto__.display = display;
  for (const name of ["tool", "display"]) {
    defineProperty(globalThis.__proto__, name, { enumerable: false });
  }

  try {
    fs.writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // There is no such setting here.
  }
  send({ t: "hello", v: 1, pid: process.pid, program: process.execPath, version: process.versions.node });

  const helper = new Worker(helperSource, { eval: true, workerData: { flags }, stdout: false, stderr: false });
  helper.on("message", (message) => {
    if (message.t === "exec") {
      run(message);
    } else if (message.t === "interrupt") {
      store(flags, HEEDED, message.id);
      finish(message.id, { status: "interrupted", etype: "Interrupted", msg: "the cell was interrupted", tb: "Interrupted" });
    } else if (message.t === "ret") {
      settle(message);
    } else if (message.t === "end") {
      exit(0);
    }
  });
  helper.on("error", (error) => {
    complain("The kernel's helper failed", error);
    exit(70);
  });
})
