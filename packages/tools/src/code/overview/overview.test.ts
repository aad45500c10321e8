import { describe, expect, inject } from "vitest";
import { codeTest as test } from "../code-tools.fixture.ts";

const monorepo = {
  "package.json": JSON.stringify({
    name: "shop",
    description: "Sells things.",
    scripts: { build: "tsc", test: "vitest" },
    workspaces: ["packages/*"],
  }),
  "README.md": "# Shop\n",
  "docs/guide.md": "",
  "packages/core/package.json": JSON.stringify({
    name: "@shop/core",
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
  }),
  "packages/core/src/index.ts": 'export { price } from "./price";\n',
  "packages/core/src/price.ts": "export function price(cents: number): string { return ''; }\nexport const rare = 1;\n",
  "packages/core/src/price.test.ts": 'import { price } from "./price";\n',
  "packages/web/package.json": JSON.stringify({
    name: "@shop/web",
    bin: { shop: "dist/main.js" },
    dependencies: { "@shop/core": "1", react: "19" },
  }),
  "packages/web/src/main.tsx": 'import { price } from "@shop/core";\nexport default function App() {}\n',
  "tools/load.py": 'def load():\n    pass\n\nif __name__ == "__main__":\n    load()\n',
};

test("a repository is described: packages, entry points, folders, exports, tests and docs", async ({ put, ask }) => {
  await put(monorepo);

  const { output, error } = await ask("overview", {});

  expect(error).toBeNull();
  expect(
    output,
  ).toBe(`The workspace: 10 files that are not ignored. By number of files: JSON 3 (30 %), TypeScript 3 (30 %), Markdown 2 (20 %), Python 1 (10 %), TSX 1 (10 %).

Packages:
package.json: shop — Sells things.; scripts build, test; workspaces packages/*
packages/core: @shop/core
packages/web: @shop/web; uses @shop/core, 1 more

Entry points:
packages/core/src/index.ts (import of @shop/core)
packages/web/src/main.tsx (command shop of @shop/web)
tools/load.py (program)

Folders (files in them):
docs/ 1
packages/ 6
  core/ 4
    src/ 3
  web/ 2
    src/ 1
tools/ 1
files here: README.md, package.json

Most used exports:
@shop/core (packages/core):
  price(cents: number): string [src/price.ts:1, in 1 file]
  const rare = 1 [src/price.ts:2]
shop:
  load() [tools/load.py:1]
@shop/web (packages/web):
  App() [src/main.tsx:2]

Tests and docs:
tests: 1 files: *.test.ts beside the source (1)
docs: README.md, docs (1)`);
});

test("it is the same each time", async ({ put, ask }) => {
  await put(monorepo);
  const { output } = await ask("overview", {});
  expect((await ask("overview", {})).output).toBe(output);
});

test("it keeps to its token limit and counts omitted lines", async ({ put, ask }) => {
  const files = Array.from({ length: 120 }, (_, i) => [
    `folder${i % 40}/part${i}/file${i}.ts`,
    `export function thing${i}(first: string, second: number): Promise<string> {}\n`,
  ]);
  await put({ ...monorepo, ...Object.fromEntries(files) });
  for (const tokens of inject("long") ? [200, 300, 500, 1_000] : [200, 1_000]) {
    const { output } = await ask("overview", { tokens });
    expect(Buffer.byteLength(output), `${tokens}`).toBeLessThanOrEqual(tokens * 3);
    expect(Buffer.byteLength(output), `${tokens}`).toBeGreaterThan(tokens * 2);
    expect(output).toMatch(/… \d+ more/);
    expect(output).toContain("By number of files");
  }
});

test("it keeps to its token limit even if a path alone is longer", async ({ put, ask }) => {
  const path = Array.from({ length: 4 }, () => "a".repeat(200)).join("/");
  await put({ [`${path}/a.ts`]: "export const a = 1;\n" });
  expect(Buffer.byteLength((await ask("overview", { path, tokens: 200 })).output)).toBeLessThanOrEqual(600);
});

test("a folder is described on its own", async ({ put, ask }) => {
  await put(monorepo);
  const { output } = await ask("overview", { path: "packages/web" });
  expect(output).toContain("packages/web: 2 files");
  expect(output).not.toContain("packages/core");
});

describe("manifests are described:", () => {
  test.for([
    { file: "package.json", text: "{ not json", says: "package.json: no name; cannot be read: invalid format" },
    {
      file: "package.json",
      text: '{"name":["a"],"scripts":7,"bin":[1],"exports":{"./x":{"import":5}}}',
      says: "package.json: no name",
    },
    {
      file: "pyproject.toml",
      text: '[project]\nname = "calc"\ndescription = "Counts."\nrequires-python = ">=3.11"\n[project.scripts]\ncalc = "calc:main"\n',
      says: "pyproject.toml: calc — Counts.; python >=3.11; commands calc",
    },
    { file: "go.mod", text: "module example.com/calc\n\ngo 1.23\n", says: "go.mod: example.com/calc; go 1.23" },
    {
      file: "Cargo.toml",
      text: '[workspace]\nmembers = ["a", "b"]\n',
      says: "Cargo.toml: cargo workspace; members a, b",
    },
    { file: "Makefile", text: "build: x\n\tcc\nCC := cc\ntest:\n", says: "Makefile: make; targets build, test" },
    {
      file: "pnpm-workspace.yaml",
      text: "packages: [a/*]\n",
      says: "pnpm-workspace.yaml: pnpm workspace; packages a/*",
    },
  ])("$file: $text", async ({ file, text, says }, { put, ask }) => {
    await put({ [file]: text });
    expect((await ask("overview", {})).output).toContain(says);
  });
});

test("an empty workspace has its own message", async ({ ask }) => {
  expect((await ask("overview", {})).output).toBe("The workspace has no files, or all of them are ignored.");
});
