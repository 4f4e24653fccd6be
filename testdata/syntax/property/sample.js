// A small store of orders.
import fs, { readFile as read } from 'fs';
import * as path from "path";

const LIMIT = 32;
let counter = 0, names = ['one', "two", `three`];
export const empty = {};

export class OrderError extends Error {
  constructor(message, ...rest) {
    super(message);
    this.rest = rest;
  }
}

class Order extends Base {
  static kind = 'order';
  #lines = [];
  name;

  constructor(name, { lines = [], open } = {}) {
    super();
    this.name = name;
    this.#lines = lines.filter((line) => line.price > 0);
  }

  get total() {
    return this.#lines.reduce((sum, line) => sum + line.price * line.count, 0);
  }

  set label(value) {
    this.name = value?.trim() ?? 'none';
  }

  add(line) {
    // At most LIMIT of them.
    if (this.#lines.length >= LIMIT) {
      throw new OrderError(`too many: ${this.#lines.length + 1}`);
    } else if (line == null) {
      return false;
    }
    this.#lines.push(line);
    return true;
  }

  async fetch(client, timeout = 3.0) {
    const res = await client.open(`${client.base}/${this.name}`, { timeout, retry: false });
    return res.ok ? res.body : null;
  }

  static *walk(root) {
    const stack = [root];
    while (stack.length) {
      const node = stack.pop();
      yield node;
      stack.push(...node.children);
    }
  }
}

function group(items, key) {
  const groups = new Map();
  for (const item of items) {
    const k = key(item);
    if (!groups.has(k)) groups.set(k, []);
    groups.get(k).push(item);
  }
  return groups;
}

const classify = (value) => {
  switch (typeof value) {
    case 'number':
      return value < 0 ? 'negative' : 'positive';
    case 'string': {
      let match = /^a[bc]+$/gi.exec(value);
      break;
    }
    default:
      counter += 1;
  }
  for (let i = 0, n = names.length; i < n; i++) {
    if (i % 2 === 0) continue;
    names[i] = names[i].toUpperCase();
  }
  for (const k in value) delete value[k];
  do { counter--; } while (counter > 0);
  label: {
    break label;
  }
  return void 0;
};

async function load(file) {
  try {
    const text = await read(file, 'utf8');
    return JSON.parse(text);
  } catch (error) {
    console.error('failed', error, path.join('a', 'b'));
    throw error;
  } finally {
    done(file);
  }
}

var old = function named(a, b) { return a + b; };
const table = {
  id: 1,
  'two': [1, 2, 3,],
  names,
  get size() { return 2; },
  run(a, ...more) { return old.apply(null, [a, ...more]); },
  [`k${counter}`]: -1,
  ...empty,
};
if (!table.id && counter !== 1 || names) { old(1, 2) } else group(table)
export { group, classify as kind };
export default async () => load(table.id, (x, y) => ({ x, y }));
