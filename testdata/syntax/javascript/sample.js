#!/usr/bin/env node
"use strict";

import fs, { promises as fsp } from "node:fs";
import * as path from "node:path";

const DEFAULTS = { depth: 3, "max-size": 1_000, [Symbol.iterator]: null };
let counter = 0;
var legacy;

function tagged(target) {
  return target;
}

/** A cache of file sizes. */
@tagged
class Cache extends Map {
  static #instances = 0;
  hits = 0;
  limit;

  static {
    Cache.#instances = 0;
  }

  constructor(limit = 10, ...entries) {
    super(entries);
    this.limit = limit;
    Cache.#instances += 1;
  }

  get full() {
    return this.size >= this.limit;
  }

  set full(value) {
    if (!value) this.clear();
  }

  static create(options) {
    return new Cache(options?.limit ?? DEFAULTS.depth);
  }

  @tagged
  async load(file) {
    if (this.has(file)) {
      this.hits++;
      return this.get(file);
    }
    const { size } = await fsp.stat(file);
    this.set(file, size);
    return size;
  }

  *names() {
    yield* this.keys();
  }
}

function* range(from, to, step = 1) {
  for (let i = from; i < to; i += step) {
    yield i;
  }
}

async function walk(folder, { depth, filter = (name) => true, ...rest } = DEFAULTS) {
  const found = [];
  if (depth <= 0) return found;
  for (const entry of await fsp.readdir(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      found.push(...(await walk(full, { depth: depth - 1, filter, ...rest })));
    } else if (filter(entry.name) && !/^\.|~$/.test(entry.name)) {
      found.push(full);
    }
  }
  return found;
}

const describe = (size) => {
  switch (true) {
    case size > 1024 ** 2:
      return `${(size / 1024 ** 2).toFixed(1)} MB`;
    case size > 1024:
      return `${size >> 10} kB`;
    default:
      return size + " B";
  }
};

const report = {
  total: 0,
  lines: [],
  add(file, size) {
    this.total += size;
    this.lines.push(`${file}\t${describe(size)}`);
  },
  get text() {
    return this.lines.join("\n");
  },
};

export async function main(args) {
  const cache = Cache.create({ limit: args.length || undefined });
  outer: for (const folder of args) {
    try {
      for await (const file of walk(folder)) {
        if (cache.full) break outer;
        report.add(file, await cache.load(file));
      }
    } catch ({ message }) {
      console.error("skipped", folder, message);
      continue;
    } finally {
      counter++;
    }
  }
  do {
    counter -= 1;
  } while (counter > 0);
  legacy = typeof legacy === "undefined" ? void 0 : delete report.lines;
  console.log(report.text);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

export { Cache as default, range };
