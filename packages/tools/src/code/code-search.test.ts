import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { codeTest as test } from "./code-tools.fixture.ts";

const store = {
  "src/store.ts": `import { open } from "./open";
/** Keeps users. */
export class UserStore {
  create(name: string): User {
    return open(name);
  }
  remove() {}
}
export class TeamStore {
  create() {}
}
`,
  "src/open.ts":
    'export function open(name: string) {}\n// open is a word here, and "open" too\nconst text = "open";\n',
  "src/app.py": "from store import create\n\ndef main():\n    create('open')\n",
  "test/store.test.ts": 'import { UserStore } from "../src/store";\nnew UserStore().create("a");\n',
  "README.md": "Call open first.\n",
};

test("definitions come first, then references with their containers, then imports", async ({ put, ask }) => {
  await put(store);

  const { output, error } = await ask("code_search", { name: "open" });

  expect(error).toBeNull();
  expect(
    output,
  ).toBe(`open: 1 definition, 1 reference, 1 import in 2 files (also: 5 in strings and comments, not shown; word matches in files that were not parsed)

Definitions:
src/open.ts:1 exported function: export function open(name: string)

References:
src/store.ts
  5 in UserStore.create: return open(name);

Imports:
src/store.ts:1

Word matches in files that were not parsed:
README.md:1: Call open first.`);
});

test("a method is found by its class", async ({ put, ask }) => {
  await put(store);

  const { output } = await ask("code_search", { name: "UserStore.create" });

  expect(output).toContain("src/store.ts:4-6 exported method in UserStore: create(name: string): User");
  expect(output).not.toContain("TeamStore");
  expect(output).toContain('2: new UserStore().create("a");');
  expect(output).toContain("the object's type is not known");
});

test("a method of another class than the requested one is named as such", async ({ put, ask }) => {
  await put(store);
  const { output } = await ask("code_search", { name: "UserStor.create", kind: "definitions" });
  expect(output).toContain("none in UserStor; create is defined elsewhere:");
  expect(output).toContain("in TeamStore");
});

describe("it can be narrowed:", () => {
  test.for([
    { args: { kind: "definitions" }, has: ["TeamStore"], hasNot: ["References", "Imports"] },
    { args: { kind: "references" }, has: ["new UserStore"], hasNot: ["Definitions:"] },
    { args: { language: "python" }, has: ["app.py"], hasNot: [".ts"] },
    { args: { language: "ts" }, has: ["store.ts"], hasNot: [".py"] },
    { args: { path: "test" }, has: ["store.test.ts"], hasNot: ["src/"] },
    { args: { path: "src/store.ts" }, has: ["src/store.ts:4"], hasNot: ["test/"] },
    { args: { limit: 1 }, has: ["… and 1 more"], hasNot: [] },
  ])("$args", async ({ args, has, hasNot }, { put, ask }) => {
    await put(store);
    const { output } = await ask("code_search", { name: "create", ...args });
    for (const text of has) expect(output).toContain(text);
    for (const text of hasNot) expect(output).not.toContain(text);
  });
});

describe("a name without a match gets suggestions:", () => {
  test.for([
    { name: "userstore", has: "class UserStore" },
    { name: "UserStoer", has: "class UserStore" },
    { name: "Team", has: "class TeamStore" },
    { name: "zzzzzzzzzzzzzz", has: "No definition has a similar name." },
  ])("$name", async ({ name, has }, { put, ask }) => {
    await put(store);
    const { output } = await ask("code_search", { name });
    expect(output).toContain(`${name} was not found in the workspace.`);
    expect(output).toContain(has);
  });
});

describe("no name is taken for a pattern or an option:", () => {
  test.for(["-e", "--files", "a(b", ".*", "a b", "a\nb", "$(id)", "."])("%j", async (name, { put, ask }) => {
    await put(store);
    expect((await ask("code_search", { name })).error).toMatchObject({
      type: "params",
      message: expect.stringContaining("is not a name in code"),
    });
  });

  test("a dollar belongs to a name", async ({ put, ask }) => {
    await put({ "a.ts": "const $ = 1, $state = $, state$ = 2;\nuse($state);\n" });
    expect((await ask("code_search", { name: "$state" })).output).toContain("$state: 1 definition, 1 reference,");
    expect((await ask("code_search", { name: "$" })).output).toContain("$: 1 definition, 1 reference,");
    expect((await ask("code_search", { name: "use()" })).output).toContain("use(): 0 definitions, 1 reference,");
  });
});

describe("unparsed files are named and searched for the word:", () => {
  test.for([
    { what: "another language", file: "a.rb", content: "def wanted\nend\n", says: "a.rb:1: def wanted" },
    {
      what: "a large file",
      file: "a.ts",
      content: `${"// a\n".repeat(300_000)}wanted();\n`,
      says: "a.ts:300001: wanted();",
    },
    {
      what: "a minified one",
      file: "a.js",
      content: `${"var a=1;".repeat(9_000)}\nwanted();\n`,
      says: "a.js:2: wanted();",
    },
  ])("$what", async ({ file, content, says }, { put, ask }) => {
    await put({ [file]: content });
    const { output } = await ask("code_search", { name: "wanted" });
    expect(output).toContain("Word matches in files that were not parsed:");
    expect(output).toContain(says);
    if (!file.endsWith("rb")) expect(output).toContain(`${file} was not parsed: it`);
  });

  test("a file with syntax errors is parsed, with a warning", async ({ put, ask }) => {
    await put({ "a.ts": "function wanted() {}\nconst = ;\n" });
    const { output } = await ask("code_search", { name: "wanted" });
    expect(output).toContain("a.ts:1 function: function wanted()");
    expect(output).toContain("a.ts has a syntax error near line 2");
  });

  test("UTF-16 is decoded", async ({ put, ask }) => {
    await put({ "a.ts": Buffer.from("\uFEFFfunction wanted() {}\r\n", "utf16le") });
    expect((await ask("code_search", { name: "wanted" })).output).toContain("a.ts:1 function: function wanted()");
  });
});

test("ignored files and link targets are not searched", async ({ folder, put, ask }) => {
  await put({
    "w/.gitignore": "dist/\n",
    "w/a.ts": "wanted();\n",
    "w/dist/a.ts": "function wanted() {}\n",
    "outside/a.ts": "function wanted() {}\n",
  });
  await symlink("../outside", join(folder, "w/link"));
  await symlink("../outside/a.ts", join(folder, "w/link.ts"));

  const { output } = await ask("code_search", { name: "wanted" }, { workspace: join(folder, "w") });

  expect(output).toContain("wanted: 0 definitions, 1 reference, 0 imports in 1 file");
});

describe("an invalid scope says why:", () => {
  test.for([
    { args: { path: "../other" }, error: { type: "permission" } },
    { args: { path: "/etc" }, error: { type: "permission" } },
    {
      args: { path: "nowhere" },
      error: { type: "params", message: expect.stringContaining("no such file or folder") },
    },
    { args: { language: "cobol" }, error: { type: "params", message: expect.stringContaining("typescript") } },
  ])("$args", async ({ args, error }, { ask }) => {
    expect((await ask("code_search", { name: "a", ...args })).error).toMatchObject(error);
  });
});

test("an empty workspace has no match", async ({ ask }) => {
  expect((await ask("code_search", { name: "a" })).output).toBe(
    "a was not found in the workspace. No definition has a similar name.",
  );
});

test("it ends when it is cancelled", async ({ put, ask }) => {
  await put(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}.ts`, `wanted(${i});\n`.repeat(2_000)])));
  const stop = new AbortController();
  const asked = ask("code_search", { name: "wanted" }, { signal: stop.signal });
  setImmediate(() => stop.abort());
  expect((await asked).error).toMatchObject({ type: "cancelled" });
});
