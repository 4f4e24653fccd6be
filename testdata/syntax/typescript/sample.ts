import fs from "node:fs";
import * as path from "node:path";
import { EventEmitter, type Listener } from "./events";
import type { Logger as Log } from "./log";

export type Level = "low" | "mid" | "high";
type Pair<A, B = A> = readonly [A, B];
type Getter<T> = { [K in keyof T as `get${string & K}`]?: () => T[K] };
type Unwrapped<T> = T extends Promise<infer U> ? U : T;

export interface Reading<T extends number = number> extends Pick<Station, "id"> {
  readonly at: Date;
  value: T;
  note?: string;
  [extra: string]: unknown;
  scale(by: number): Reading<T>;
}

interface Station {
  id: string;
  level: Level;
}

const enum Unit {
  Metre = "m",
  Foot = "ft",
}

enum Flag {
  None,
  Dirty = 1 << 0,
  Stale = 1 << 1,
}

declare global {
  interface Window {
    gauges: Map<string, Gauge>;
  }
}

function sealed(target: unknown): void {
  Object.freeze(target);
}

function isReading(value: unknown): value is Reading {
  return typeof value === "object" && value !== null && "at" in value;
}

function overload(a: string): string;
function overload(a: number): number;
function overload(a: any): any {
  return a;
}

abstract class Device<T> extends EventEmitter implements Listener {
  static #count = 0;
  protected readonly items: T[] = [];
  declare label: string;

  static {
    Device.#count = 1;
  }

  constructor(private readonly log: Log, public name = "device") {
    super();
  }

  abstract poll(): Promise<T>;

  get size(): number {
    return this.items.length;
  }

  set limit(value: number) {
    this.items.length = Math.min(value, this.items.length);
  }
}

@sealed
export class Gauge extends Device<Reading> {
  private last?: Reading;
  unit: Unit = Unit.Metre;

  override async poll(): Promise<Reading> {
    const text = await fs.promises.readFile(path.join("data", `${this.name}.json`), "utf8");
    const parsed: unknown = JSON.parse(text);
    if (!isReading(parsed)) {
      throw new TypeError(`bad reading in ${this.name}`);
    }
    this.last = parsed;
    return parsed satisfies Reading;
  }

  *history(limit: number): Generator<Reading, void> {
    for (const item of this.items.slice(-limit)) {
      yield item;
    }
  }
}

export const levels = { low: 0, mid: 50, high: 100 } as const;

export function levelOf(value: number): Level {
  switch (true) {
    case value >= levels.high:
      return "high";
    case value >= levels.mid:
      return "mid";
    default:
      return "low";
  }
}

export async function main<T extends Gauge>(gauges: T[], retries: number = 3): Promise<void> {
  const byName = new Map<string, T>(gauges.map((g) => [g.name, g]));
  outer: for (let attempt = 0; attempt < retries; attempt++) {
    for (const [name, gauge] of byName) {
      try {
        const { value, note = "none", ...rest } = await gauge.poll();
        console.log(name!, value ?? 0, note?.trim(), Object.keys(rest));
        if (value > (<number>levels.high)) break outer;
      } catch (error: unknown) {
        (error as Error).message ||= "unknown";
        continue;
      } finally {
        gauge.emit("polled");
      }
    }
  }
}

export default main;
export { overload as echo, Flag };
