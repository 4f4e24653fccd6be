import { a, type B } from 'module'
import * as all from "all" // trailing comment
export * from './other'
export { a as b }

/** Doc { with brace */
const template = `text ${a ? `nested ${'}'} \`` : "{"} $ {`
const pattern = /[/}]\/"{/g, half = total / 2 / count
let noSemicolon = 1
let next = noSemicolon
type Union =
  | { kind: 'a'; value: number }
  | { kind: "b" }
type Fn = <T extends { x: 1 }>(value: T) => { result: T }
type Mapped<T> = { [K in keyof T]: T[K] }
interface Face extends Base<{ x: 1 }> { method(): void; prop: string }
declare module 'ambient' { export const x: number }
declare function overload(a: string): void
declare function overload(a: number): void
enum Color { Red = 'r', Green = 'g' }
const enum Small { One }
abstract class Shape<T = {}> extends mixin({ a: 1 })<T> implements Face, Other<{ y: 2 }> {
  static count = 0
  #secret = { a: 1 }
  private readonly map: Map<string, { v: number }> = new Map()
  @Input() name: string
  @Input({ required: true })
  other = () => { console.log('an arrow function with a body that is long enough to count') }
  constructor(private x: number, public y = { z: 1 }) { super(); this.setup('with text so that this is a block') }
  abstract area(): { value: number }
  get size(): number { return this.x /* } */ / 2 }
  static { Shape.count = 1 }
  async *generate<T>(): AsyncGenerator<T> { yield* [] }
  [Symbol.iterator]() { return null }
  'quoted name'() { return `}` }
  method(): { a: number } { return { a: 1 } }
}
namespace Space { export const inner = 1; export function f() { return '}' } class In { m() {} } }
@Component({ selector: 'app', template: `<div>{{ x }}</div>` })
export class Decorated { x = 1; }
export default function () { return 1 }
export async function load<T>(url: string): Promise<T> {
  if (!url) /re}g/.test(url)
  for (const x of y) { work(x, 'some text to make this block long enough to be left out') }
  do { x-- } while (x > 0)
  try { risky('text to make this block long enough to be left out, yes') } catch { recover('text to make this block long enough to be left out') } finally { end() }
  label: for (;;) { break label }
  return a! / b
}
if (a) { b() } else if (c) { d() } else { e() }
if (a) b()
else c()
while (x) y()
for (const q of r)
  q()
if (q)
  r()
else
  s()
switch (x) { case 1: break; default: z() }
describe('suite', () => {
  it('works', async () => { expect(await load('a text that is long enough for a block')).toBe(1) })
  it('fails', function () { expect(load('a text that is long enough for a block, too')).toThrow() })
})
;(function () { iife('this is a block that is long enough to be left out') })()
let x = y
(z)
const after = `a`
`tagged`
var fn = function () { return 1 }
export = all
