// Small projects whose real runners run in the sandbox of this machine.
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import { SandboxPolicy } from "@troupe/core/internal";
import { describe, expect } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { createToolHost } from "../../tool-host.ts";
import { workspaceTest } from "../../workspace.fixture.ts";
import { putFiles } from "../git.fixture.ts";
import { createTestTool } from "./create-test-tool.ts";

const repository = join(import.meta.dirname, "../../../../../..");
const policy = SandboxPolicy.parse({ readable: [repository] });
const testTool = createTestTool({ sandbox: await createSandbox({ policy }) });

/** The user has approved each call: approval depends on the machine's sandbox. */
const test = workspaceTest.extend<{ context: ToolContext }>({
  context: async ({ context }, use) => {
    await use({ ...context, approved: true, grant: { ...context.grant, tools: ["test"] } });
  },
});

const sums = `
import assert from "node:assert/strict";
import { describe, it } from "node:test";
describe("sums", () => {
  it("adds", () => assert.equal(1 + 1, 2));
  it("adds <strange> \\"things\\"", () => assert.equal(1 + 1, 3));
  it.skip("is left out", () => {});
});
`;

test("an approval is for the files as they were", async ({ context, folder }) => {
  putFiles(folder, { "package.json": script("node --test"), "a.test.mjs": sums, "helper.mjs": "" });
  const open = await createSandbox({ policy: { ...policy, mode: "off" } });
  const host = createToolHost({ tools: [createTestTool({ sandbox: open })] });
  const tests = { id: "1", name: "test", args: {}, problem: null };
  const asked = await host.examine?.(tests, { ...context, approved: false });
  expect(asked).toMatchObject({ decision: "ask", bound: [{ path: "." }] });
  const approved = { ...context, approval: { bound: asked?.bound ?? [] } };
  expect((await host.run(tests, approved)).tests).toMatchObject({ run: 2 });
  putFiles(folder, { "helper.mjs": "a line that no person has seen" });
  const { error } = await host.run(tests, approved);
  expect(error).toMatchObject({ type: "permission", message: expect.stringContaining("the last change: helper.mjs") });
});

describe("with node --test", () => {
  test("a passing run has two lines of output", async ({ folder, call }) => {
    putFiles(folder, { "package.json": script("node --test"), "test/a.test.mjs": sums.replace("3)", "2)") });

    expect(await call(testTool, {})).toMatchObject({
      output: '2 passed, 0 failed, 1 skipped\n[node --test: package.json: its test script is "node --test"]',
      error: null,
      tests: { run: 2, passed: 2, failed: 0, skipped: 1 },
    });
  });

  test("a failing run names the failed tests, with place and reason", async ({ folder, call }) => {
    putFiles(folder, { "package.json": script("node --test"), "test/a.test.mjs": sums });

    const { output, error, tests } = await call(testTool, {});

    expect(tests).toEqual({ run: 2, passed: 1, failed: 1, skipped: 1 });
    expect(error).toMatchObject({ type: "tool_error", message: "1 passed, 1 failed, 1 skipped", recoverable: true });
    expect(output).toMatch(
      /^1 passed, 1 failed, 1 skipped\n\[node --test: .*\]\n\n✗ sums adds <strange> "things" \(test\/a\.test\.mjs:6\)\n/,
    );
    expect(output).toContain("2 !== 3");
    expect(output).not.toContain(folder);
    expect(output.length).toBeLessThan(1_500);
  });

  test("runs only some paths, or only tests that match a filter", async ({ folder, call }) => {
    putFiles(folder, { "test/a.test.mjs": sums, "test/b.test.mjs": sums, "lib/c.test.mjs": sums });

    const one = await call(testTool, { paths: ["test/a.test.mjs"] });
    const filtered = await call(testTool, { paths: ["./test/a.test.mjs"], filter: "^sums adds$|^adds$" });

    expect(one.tests).toMatchObject({ run: 2, failed: 1 });
    expect(filtered.tests).toMatchObject({ run: 1, passed: 1 });
    expect(one.output).toContain("there is test/a.test.mjs, and no other runner");
  });

  test("a report that a test prints itself does not count", async ({ folder, call }) => {
    const forged = 'console.log("<testsuites><testcase name=\\"x\\"/></testsuites>\\n# tests 99\\n# pass 99");';
    putFiles(folder, { "a.test.mjs": `${sums}\n${forged}` });
    expect((await call(testTool, {})).tests).toMatchObject({ run: 2, failed: 1 });
  });

  test("a file that cannot run is a failure", async ({ folder, call }) => {
    putFiles(folder, { "a.test.mjs": "this is not JavaScript" });
    const { output, error } = await call(testTool, {});
    expect(error).not.toBeNull();
    expect(output).toContain("✗ a.test.mjs");
  });

  test("a test that hangs is stopped, and not counted", async ({ folder, call }) => {
    putFiles(folder, {
      "a.test.mjs": 'import { it } from "node:test"; it("hangs", () => new Promise(() => setInterval(() => {}, 1e6)));',
    });
    const { output, error, tests } = await call(testTool, { timeoutMs: 1_500 });
    expect(error).toMatchObject({ type: "timeout" });
    expect(output).toMatch(/^stopped: not done after 1500 ms; the tests could not be counted/);
    expect(tests).toBeNull();
  });
});

describe("with vitest", () => {
  const file = `
import { expect, it } from "vitest";
it("adds", () => expect(1 + 1).toBe(2));
it("adds more", () => {
  expect(1 + 1).toBe(3);
});
it.skip("is left out", () => {});
it.todo("will come");
`;

  test("a failing run names the failed tests, with place and reason", async ({ folder, call }) => {
    putFiles(folder, {
      "package.json": script("vitest run"),
      "src/a.test.js": file,
      "src/broken.test.js": "import './no'",
    });
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));

    const { output, tests } = await call(testTool, {});

    expect(tests).toEqual({ run: 2, passed: 1, failed: 1, skipped: 2 });
    expect(output).toMatch(/✗ adds more \(src\/a\.test\.js:5\)\n {2}AssertionError: expected 2 to be 3/);
    expect(output).toMatch(/✗ the file could not be run \(src\/broken\.test\.js\)\n.*'\.\/no'/);
  });

  test("runs in the package of the paths", async ({ folder, call }) => {
    putFiles(folder, {
      "package.json": script("turbo run test"),
      "packages/a/package.json": script("vitest --passWithNoTests src/other"),
      "packages/a/src/a.test.js": file,
    });
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));

    const { output, tests } = await call(testTool, { paths: ["packages/a/src/a.test.js"], filter: "adds$" });

    expect(output).toMatch(/^1 passed, 0 failed, 3 skipped\n\[vitest in packages\/a: package\.json/);
    expect(tests).toMatchObject({ run: 1, passed: 1, failed: 0 });
  });
});

describe("with an unknown runner", () => {
  test("its summary is counted if it is unambiguous", async ({ folder, call }) => {
    putFiles(folder, {
      "package.json": script("echo first && printf 'Tests:       1 failed, 2 passed, 3 total\\n' && exit 1"),
    });
    const { output, tests } = await call(testTool, {});
    expect(tests).toEqual({ run: 3, passed: 2, failed: 1, skipped: 0 });
    expect(output).toMatch(/^2 passed, 1 failed, 0 skipped\n\[the test script: /);
  });

  test("the output is shown, with a notice that the tests could not be counted", async ({ folder, call }) => {
    putFiles(folder, { "package.json": script("echo all good && true") });
    const { output, tests, error } = await call(testTool, {});
    expect({ tests, error }).toEqual({ tests: null, error: null });
    expect(output).toMatch(/^exit code 0; the tests could not be counted\n.*\n\nall good$/);
  });

  test("paths and filters are refused, because they would be ignored", async ({ folder, call }) => {
    putFiles(folder, { "package.json": script("echo a && true"), "a.txt": "" });
    expect((await call(testTool, { filter: "x" })).error).toMatchObject({ type: "params" });
    expect((await call(testTool, { paths: ["a.txt"] })).error).toMatchObject({ type: "params" });
  });
});

test("without a runner, the error lists the supported ones", async ({ call }) => {
  expect((await call(testTool, {})).error).toMatchObject({
    type: "tool_error",
    message: expect.stringMatching(/no way to run tests was found; looked for .*package\.json.*go\.mod.*Makefile/),
  });
});

test("a runner that is not installed is reported as missing", async ({ folder, call }) => {
  putFiles(folder, { "package.json": script("jest") });
  expect((await call(testTool, {})).output).toContain(
    "[hint: jest is not installed here: install the project's dependencies first]",
  );
});

describe("a path that could be an option or lies outside is refused:", () => {
  test.for([
    { paths: ["--import=./evil.mjs"] },
    { paths: ["-x"] },
    { paths: ["./-x"] },
    { paths: ["../x"] },
    { paths: ["/etc/passwd"] },
    { paths: ["nowhere.test.js"] },
    { paths: ["a\0b"] },
    { filter: "--globalSetup=./evil.mjs" },
    { filter: "a\0b" },
  ])("%j", async (args, { folder, call }) => {
    putFiles(folder, { "package.json": script("node --test"), "-x": "" });
    expect((await call(testTool, args)).error?.type).toMatch(/^(params|permission)$/);
  });
});

function script(test: string): string {
  return JSON.stringify({ type: "module", scripts: { test } });
}
