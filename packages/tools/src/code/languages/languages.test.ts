import { afterAll, describe, expect, it } from "vitest";
import type { Occurrences, Outline } from "../syntax/queries.ts";
import { createSyntaxService } from "../syntax/syntax-service.ts";
import { languageOf } from "./languages.ts";

// Results of each language's tables: one row for each kind of definition, export and comment.

const syntax = createSyntaxService();
afterAll(() => syntax.close());

const neverAborted = new AbortController().signal;

async function outline(path: string, source: string): Promise<Outline> {
  const file = { language: languageOf(path)?.id ?? "", bytes: new TextEncoder().encode(source) };
  const result = await syntax.query(file, { kind: "outline" }, neverAborted);
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

async function occurrences(path: string, source: string, name: string): Promise<Occurrences> {
  const file = { language: languageOf(path)?.id ?? "", bytes: new TextEncoder().encode(source) };
  const result = await syntax.query(file, { kind: "occurrences", name }, neverAborted);
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

/** `kind container.name`, with `+` where it is exported and `"` where it is documented. */
async function definitionsIn(path: string, source: string): Promise<string[]> {
  const { definitions } = await outline(path, source);
  return definitions.map(({ kind, container, name, exported, documented }) => {
    const marks = `${exported ? "+" : ""}${documented ? '"' : ""}`;
    return `${marks}${kind} ${container === null ? "" : `${container}.`}${name}`;
  });
}

interface Row {
  file: string;
  source: string;
  definitions: string[];
}

const typescript: Row[] = [
  { file: "a.ts", source: "function a() {}", definitions: ["function a"] },
  { file: "a.ts", source: "/** Says. */\nexport function a() {}", definitions: ['+"function a'] },
  { file: "a.ts", source: "/* Says. */\nexport function a() {}", definitions: ["+function a"] },
  { file: "a.ts", source: "/** */\nexport function a() {}", definitions: ["+function a"] },
  { file: "a.ts", source: "export async function* a() {}", definitions: ["+function a"] },
  { file: "a.ts", source: "export default function a() {}", definitions: ["+function a"] },
  { file: "a.ts", source: "function a() {}\nexport { a };", definitions: ["+function a"] },
  { file: "a.ts", source: "function a() {}\nexport { a as b };", definitions: ["+function a"] },
  { file: "a.ts", source: "function a() {}\nexport default a;", definitions: ["+function a"] },
  { file: "a.ts", source: 'import { a } from "./b";\nexport { a };', definitions: [] },
  { file: "a.ts", source: 'export { a } from "./b";\nexport * from "./c";', definitions: [] },
  {
    file: "a.ts",
    source: "/** Says. */\nexport const a = 1, b = () => 2;",
    definitions: ['+"constant a', '+"function b'],
  },
  { file: "a.ts", source: "let a = 1;\nvar b;", definitions: ["variable a", "variable b"] },
  {
    file: "a.ts",
    source: "export const { a, b: c, ...d } = e, [f] = g;",
    definitions: ["+constant a", "+constant c", "+constant d", "+constant f"],
  },
  {
    file: "a.ts",
    source:
      "/** Says. */\n@dec()\nexport abstract class A<T> {\n  /** Says. */\n  @dec() m() {}\n  private n() {}\n  #o = 1;\n  abstract p(): void;\n}",
    definitions: ['+"class A', '+"method A.m', "method A.n", "property A.#o", "+method A.p"],
  },
  { file: "a.ts", source: "class A { m() {} }", definitions: ["class A", "method A.m"] },
  {
    file: "a.ts",
    source: "export interface A { /** Says. */ b: string; c(): void }",
    definitions: ["+interface A", '+"property A.b', "+method A.c"],
  },
  { file: "a.ts", source: "export type A = { b: string };", definitions: ["+type A"] },
  { file: "a.ts", source: "export enum A { B, C = 2 }", definitions: ["+enum A", "+member A.B", "+member A.C"] },
  {
    file: "a.ts",
    source: "export namespace A { export const b = 1; const c = 2 }",
    definitions: ["+module A", "+constant A.b", "constant A.c"],
  },
  { file: "a.d.ts", source: 'declare module "x" { function a(): void }', definitions: ["module x", "function x.a"] },
  { file: "a.ts", source: "declare global { interface A {} }", definitions: ["+interface A"] },
  {
    file: "a.ts",
    source: "/** Says. */\nexport function a(b: 1): void;\nexport function a(b: any) {}",
    definitions: ['+"function a', "+function a"],
  },
  { file: "a.mts", source: "export const a = class {};", definitions: ["+class a"] },
  { file: "a.tsx", source: "export const A = () => <b>c</b>;", definitions: ["+function A"] },
  {
    file: "a.js",
    source: "exports.a = function () {};\nmodule.exports.b = 1;",
    definitions: ["+function a", "+constant b"],
  },
  {
    file: "a.cjs",
    source: "const a = () => 1, b = 2;\nmodule.exports = { a, c: b };",
    definitions: ["+function a", "+constant b"],
  },
  { file: "a.js", source: "A.prototype.b = function () {};", definitions: ["method b"] },
  { file: "a.js", source: 'const { a } = require("b");', definitions: [] },
  {
    file: "a.jsx",
    source: "export class A { b = 1; c() { return <d/>; } }",
    definitions: ["+class A", "+property A.b", "+method A.c"],
  },
];

const python: Row[] = [
  { file: "a.py", source: 'def a():\n  """Says."""', definitions: ['+"function a'] },
  { file: "a.py", source: "def a():\n  # Says.\n  return 1", definitions: ["+function a"] },
  { file: "a.py", source: "async def _a(): pass", definitions: ["function _a"] },
  {
    file: "a.py",
    source:
      '@dec\nclass A(B):\n  "Says."\n  b: int = 1\n  @property\n  def c(self):\n    "Says."\n  def _d(self): pass',
    definitions: ['+"class A', "+property A.b", '+"method A.c', "method A._d"],
  },
  {
    file: "a.py",
    source: "A = 1\nb = 2\nb = 3\nc, d = 4, 5",
    definitions: ["+constant A", "+variable b", "+variable c", "+variable d"],
  },
  {
    file: "a.py",
    source: '__all__ = ["_a", "B"]\ndef _a(): pass\ndef c(): pass\nclass B: pass',
    definitions: ["variable __all__", "+function _a", "function c", "+class B"],
  },
  {
    file: "a.py",
    source: "if x:\n  def a(): pass\nelse:\n  def b(): pass",
    definitions: ["+function a", "+function b"],
  },
  { file: "a.pyi", source: "type A = int\ndef b() -> A: ...", definitions: ["+type A", "+function b"] },
];

const others: Row[] = [
  {
    file: "a.go",
    source: "package a\n\n// Run says.\nfunc Run() {}\n\nfunc stop() {}",
    definitions: ['+"function Run', "function stop"],
  },
  {
    file: "a.go",
    source: "package a\ntype A struct { B int }\nfunc (a *A) Run() {}\nfunc (A[T]) run() {}",
    definitions: ["+class A", "+property A.B", "+method A.Run", "method A.run"],
  },
  {
    file: "a.go",
    source: "package a\ntype (\n  // B says.\n  B interface { M() }\n)\nconst (\n  C = iota // aside\n  D\n)",
    definitions: ['+"interface B', "+method B.M", "+constant C", "+constant D"],
  },
  {
    file: "a.rs",
    source: "/// Says.\n#[inline]\npub fn a() {}\nfn b() {}",
    definitions: ['+"function a', "function b"],
  },
  {
    file: "a.rs",
    source: "pub struct A { pub b: u8 }\nimpl A { pub fn c(&self) {} fn d() {} }\npub trait T { fn e(); }",
    definitions: ["+class A", "+property A.b", "+method A.c", "method A.d", "+interface T", "+method T.e"],
  },
  {
    file: "a.rs",
    source: "pub enum A { B, C(u8) }\nmod m { pub fn n() {} }",
    definitions: ["+enum A", "+member A.B", "+member A.C", "module m", "function m.n"],
  },
  {
    file: "A.java",
    source:
      "/** Says. */\npublic class A {\n  /** Says. */\n  public A() {}\n  public void b() {}\n  private int c;\n  static final int D = 1;\n}",
    definitions: ['+"class A', '+"method A.A', "+method A.b", "property A.c", "constant A.D"],
  },
  {
    file: "I.java",
    source: "public interface I { void a(); }\nenum E { F }",
    definitions: ["+interface I", "+method I.a", "enum E", "member E.F"],
  },
];

describe.each([
  ["TypeScript and JavaScript", typescript],
  ["Python", python],
  ["Go, Rust and Java", others],
])("definitions of %s:", (_language, rows) => {
  it.each(rows)("$file: $source", async ({ file, source, definitions }) => {
    expect(await definitionsIn(file, source)).toEqual(definitions);
  });
});

describe("a signature is the text before the body, on one line:", () => {
  it.each([
    [
      "a.ts",
      "export async function a(\n  b: string,\n): Promise<void> {\n}",
      "export async function a(b: string): Promise<void>",
    ],
    [
      "a.ts",
      "export const a = async (b: string): Promise<void> => { c(); };",
      "export const a = async (b: string): Promise<void>",
    ],
    ["a.ts", "@dec()\nexport class A extends B {}", "export class A extends B"],
    ["a.py", "@dec\ndef a(\n    b: int,\n) -> str:\n    pass", "def a(b: int) -> str"],
    ["a.go", "package a\nfunc (s *S) A(b int) error { return nil }", "func (s *S) A(b int) error"],
    ["a.rs", "pub fn a<T>(b: T) -> T { b }", "pub fn a<T>(b: T) -> T"],
    ["A.java", "public class A extends B {}", "public class A extends B"],
  ])("%s: %s", async (file, source, signature) => {
    expect((await outline(file, source)).definitions[0]?.signature).toBe(signature);
  });
});

describe("imports:", () => {
  it.each([
    ["a.ts", 'import a, { b as c, type D } from "./x.ts";', ["default ./x.ts", "b ./x.ts", "D ./x.ts"]],
    ["a.ts", 'import * as n from "y";\nimport "z";\nimport q = require("r");', ["* y", "* z", "* r"]],
    [
      "a.py",
      "import os, a.b as c\nfrom .x import y as z, w\nfrom q import *",
      ["* os", "* a.b", "y .x", "w .x", "* q"],
    ],
    ["a.go", 'package a\nimport (\n "fmt"\n f "os/exec"\n)', ["* fmt", "* os/exec"]],
    ["a.rs", "use std::io::{Read, Write};", ["* std::io::{Read, Write}"]],
    ["A.java", "import java.util.List;\nimport static x.Y.*;", ["List java.util", "* x.Y"]],
  ])("%s: %s", async (file, source, imports) => {
    expect((await outline(file, source)).imports.map(({ name, from }) => `${name} ${from}`)).toEqual(imports);
  });
});

describe("exports in lists:", () => {
  it.each([
    ["a.ts", 'export { a as b } from "./c";\nexport * from "d";\nexport * as e from "f";', ["b ./c", "* d", "e f"]],
    ["a.ts", "const a = 1;\nexport { a as b };\nexport default a;", ["a null", "a null"]],
    ["a.py", "__all__ = ['a', \"b\"]\n__all__ += ['c']", ["a null", "b null", "c null"]],
  ])("%s: %s", async (file, source, exports) => {
    expect((await outline(file, source)).exports.map(({ name, from }) => `${name} ${from}`)).toEqual(exports);
  });
});

describe("programs are distinguished from modules:", () => {
  it.each([
    ["a.py", 'if __name__ == "__main__":\n  a()', true],
    ["a.py", "a()", false],
    ["a.go", "package main\nfunc main() {}", true],
    ["a.rs", "fn main() {}", true],
    ["a.js", "#!/usr/bin/env node\na();", true],
    ["a.ts", "a();", false],
  ])("%s: %s", async (file, source, program) => {
    expect((await outline(file, source)).program).toBe(program);
  });
});

/** The uses of `x` in a source: `d` definition, `i` import, `r` reference, `t` in a string or comment. */
const uses: [file: string, source: string, uses: string][] = [
  ["a.ts", "function x() { x(); }", "dr"],
  ["a.ts", 'import { x } from "x";\nx();', "itr"],
  ["a.ts", 'export { x } from "./a";', "i"],
  ["a.ts", 'const { x } = await import("a"); const y = x;', "ir"],
  ["a.js", 'const x = require("a"); const { y = x } = require("b"); const z = require(x);', "irr"],
  ["a.ts", "// x\nconst a = 'x' + `x $" + "{x}`; /* x */", "tttrt"],
  ["a.ts", "const { x } = a; const { b: x } = c; const { x: d } = e;", "ddr"],
  ["a.ts", "function f(x: x, { x: y }: z) { return x; }", "drrr"],
  ["a.ts", "const f = (x) => x;\nconst g = x => x;", "drdr"],
  ["a.js", "function f(x, ...y) { for (const x of y) {} try {} catch (x) {} }", "ddd"],
  ["a.ts", "class A { x = 1; m() { this.x(); this.#x; } #x = 2 }", "dr"],
  ["a.ts", "const a = { x: 1, b: x }; const c = { x() {} }; const d = { x: () => 1 }; const e = { x };", "rrddr"],
  ["a.ts", "type A<x> = x[];\nlet b: x.y;", "drr"],
  ["a.tsx", "const a = <x y={x}>x {x}</x>;", "rrtrr"],
  ["a.ts", "const xs = xy; $x; x$; _x; a.x; a?.x; a['x'];", "rrt"],
  ["a.py", "from a import x\nimport x\nx()  # x\n'x'", "iirtt"],
  ["a.py", "def f(x, *, y=x, **z): x = 1; x = 2; return f'{x} x'", "drdrrt"],
  ["a.py", "for x in y: pass\nwith a as x: pass\nlambda x: x", "drdr"],
  ["a.py", "class A:\n  def x(self): self.x()", "dr"],
  ["a.go", 'package a\nfunc f(x int) { x := 1; x = 2; "x" }', "ddrt"],
  ["a.rs", 'fn f(x: u8) { let x = 1; g(x); "x"; } // x', "ddrtt"],
  ["A.java", 'class A { int x; void f(int x) { this.x = x; String s = "x"; } }', "ddrrt"],
];

describe("the use of a name:", () => {
  it.each(uses)("%s: %s", async (file, source, expected) => {
    const found = await occurrences(file, source, "x");
    expect(found.occurrences.map(({ use }) => (use === "text" ? "t" : use[0])).join("")).toBe(expected);
  });

  it("gives the container of a local definition and of a reference", async () => {
    const source = "class A {\n  m() {\n    const x = 1;\n    return () => x;\n  }\n}";
    const { occurrences: found } = await occurrences("a.ts", source, "x");
    expect(found.map(({ line, container, text }) => ({ line, container, text }))).toEqual([
      { line: 3, container: "A.m", text: "const x = 1;" },
      { line: 4, container: "A.m", text: "return () => x;" },
    ]);
  });
});
