import { execFile } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { promisify } from "node:util";
import { it as base, describe, expect, inject } from "vitest";
import { createSyntaxService, type SyntaxService, type SyntaxServiceOptions } from "./syntax-service.ts";

// Files are untrusted: a file that crashes the parser affects neither the process nor the next file.

const neverAborted = new AbortController().signal;
const utf8 = new TextEncoder();
const file = (text: string, language = "typescript") => ({ language, bytes: utf8.encode(text) });
const outline = { kind: "outline" } as const;
/** How deep the hostile files are nested. */
const depth = inject("long") ? 100_000 : 5_000;

interface Fixtures {
  /** A service of the tests of this file. */
  service: SyntaxService;
  /** Starts a service for one test. */
  start: (options?: SyntaxServiceOptions) => SyntaxService;
}

const it = base.extend<Fixtures>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
    async ({}, use) => {
      const service = createSyntaxService();
      await use(service);
      await service.close();
    },
    { scope: "file" },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  start: async ({}, use) => {
    const services: SyntaxService[] = [];
    await use((options) => {
      const service = createSyntaxService(options);
      services.push(service);
      return service;
    });
    await Promise.all(services.map((service) => service.close()));
  },
});

const brokenThread = new URL("./broken-thread.fixture.ts", import.meta.url);

describe("a file that crashes the thread only loses its own result:", () => {
  it.for([
    { text: "end", problem: /the parser failed on it/ },
    { text: "throw", problem: /the parser failed on it/ },
    { text: "broken", problem: /the parser failed on it \(memory access out of bounds\)/ },
    { text: "hang", problem: /parsing took over 500 ms/ },
    { text: "fill", problem: /the parser failed on it|parsing took over/ },
  ])("$text", async ({ text, problem }, { start }) => {
    const service = start({ threadUrl: brokenThread, fileTimeoutMs: text === "hang" ? 500 : 60_000 });

    const asked = ["before", text, "after"].map((one) => service.query(file(one), outline, neverAborted));

    expect(await Promise.all(asked)).toEqual([
      { problem: "read: before" },
      { problem: expect.stringMatching(problem) },
      { problem: "read: after" },
    ]);
  });
});

it("a thread that cannot be started is a reported error, and the next query tries again", async ({ start }) => {
  const service = start({ threadUrl: new URL("./there-is-no-such-thread.ts", import.meta.url) });
  for (let times = 0; times < 2; times++) {
    await expect(service.query(file("a"), outline, neverAborted)).rejects.toMatchObject({
      runError: { type: "tool_error", message: expect.stringContaining("could not be started") },
    });
  }
});

describe("hostile files get a result, and the next file too:", () => {
  it.for([
    { what: "parentheses", language: "typescript", text: "(".repeat(5 * depth) + ")".repeat(5 * depth) },
    { what: "brackets that never close", language: "javascript", text: "[".repeat(depth) },
    {
      what: "nested objects",
      language: "typescript",
      text: `const x = ${"{a:\n".repeat(depth)}1${"}".repeat(depth)}`,
    },
    { what: "nested blocks", language: "rust", text: `fn f() {${"{\n".repeat(depth)}` },
    { what: "nested elements", language: "tsx", text: "<a>\n".repeat(depth) },
    { what: "nested calls", language: "python", text: "f(\n".repeat(depth) },
    {
      what: "nested patterns",
      language: "typescript",
      text: `const ${"[\n".repeat(depth)}x${"]".repeat(depth)} = 1`,
    },
  ])("$what ($language)", async ({ language, text }, { service }) => {
    const lines = text.replace(/.{200}/g, "$&\n");

    for (const query of [outline, { kind: "occurrences", name: "x" } as const]) {
      const answer = await service.query(file(lines, language), query, neverAborted);
      expect(answer).not.toMatchObject({ problem: expect.stringContaining("the parser failed") });
    }
    expect(await service.query(file("function a() {}"), outline, neverAborted)).toMatchObject({
      definitions: [{ name: "a" }],
    });
  });
});

it("definitions beyond the nesting limit are skipped", async ({ service }) => {
  const text = "namespace a {\n".repeat(500) + "}".repeat(500);
  const answer = await service.query(file(text), outline, neverAborted);
  expect("definitions" in answer && answer.definitions.length).toBeLessThan(60);
});

describe("an unparsed file says why:", () => {
  it.for([
    {
      what: "a file over 1 MB",
      bytes: utf8.encode("a\n".repeat(600_000)),
      problem: /1200000 bytes are over the limit of 1048576/,
    },
    { what: "a binary file", bytes: Uint8Array.of(0x61, 0, 0x62), problem: /binary/ },
    { what: "bytes that are not UTF-8", bytes: Uint8Array.of(0x61, 0xfc, 0x62), problem: /not valid UTF-8/ },
    { what: "a minified bundle", bytes: utf8.encode("var a=1;".repeat(5_000)), problem: /minified/ },
  ])("$what", async ({ bytes, problem }, { service }) => {
    const answer = await service.query({ language: "javascript", bytes }, outline, neverAborted);
    expect(answer).toEqual({ problem: expect.stringMatching(problem) });
  });
});

describe("text is decoded by its encoding:", () => {
  const source = "\uFEFF// Grüße\r\nexport function a() {}\r\n";
  it.for([
    { encoding: "UTF-8 with a mark", bytes: utf8.encode(source) },
    { encoding: "UTF-16, little end first", bytes: new Uint8Array(Buffer.from(source, "utf16le")) },
    { encoding: "UTF-16, big end first", bytes: new Uint8Array(Buffer.from(source, "utf16le").swap16()) },
  ])("$encoding", async ({ bytes }, { service }) => {
    expect(await service.query({ language: "javascript", bytes }, outline, neverAborted)).toMatchObject({
      definitions: [{ name: "a", line: 2 }],
      errorLine: null,
    });
  });
});

it("syntax errors are reported, and definitions around them are found", async ({ service }) => {
  const text = "function a() {}\nconst = ;\nfunction b() {}\n";
  expect(await service.query(file(text), outline, neverAborted)).toMatchObject({
    definitions: [{ name: "a" }, { name: "b" }],
    errorLine: 2,
  });
});

it("the same content is parsed once", async ({ service }) => {
  const first = await service.query(file("const a = 1"), outline, neverAborted);
  expect(await service.query(file("const a = 1"), outline, neverAborted)).toBe(first);
  expect(await service.query(file("const a = 2"), outline, neverAborted)).not.toBe(first);
  expect(await service.query(file("const a = 1", "javascript"), outline, neverAborted)).not.toBe(first);
});

it("a cancelled query does not wait for the file that is being parsed", async ({ start }) => {
  const service = start({ threadUrl: brokenThread, fileTimeoutMs: 60_000 });
  const stop = new AbortController();
  const asked = service.query(file("hang"), outline, stop.signal);
  stop.abort();
  await expect(asked).rejects.toMatchObject({ runError: { type: "cancelled" } });
  await expect(service.query(file("a"), outline, stop.signal)).rejects.toMatchObject({
    runError: { type: "cancelled" },
  });
});

it("a thread that ended when idle starts again at the next query", async ({ start }) => {
  const service = start({ threadUrl: brokenThread, idleMs: 0 });
  expect(await service.query(file("a"), outline, neverAborted)).toEqual({ problem: "read: a" });
  await expect.poll(() => process.getActiveResourcesInfo().filter((kind) => kind === "Worker").length).toBe(0);
  expect(await service.query(file("b"), outline, neverAborted)).toEqual({ problem: "read: b" });
});

it("a process with an idle thread ends by itself; one that waits for an answer gets it", async () => {
  const service = JSON.stringify(new URL("./syntax-service.ts", import.meta.url));
  const program = `
    const { createSyntaxService } = await import(${service});
    const file = { language: "python", bytes: new TextEncoder().encode("def a(): pass") };
    const answer = await createSyntaxService({ idleMs: 2 ** 30 }).query(file, { kind: "outline" }, new AbortController().signal);
    console.log(answer.definitions[0].name);`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { timeout: 60_000 });
  expect(stdout).toBe("a\n");
});

it("the event loop is free while a large file is parsed", async ({ service }) => {
  await service.query(file("a"), outline, neverAborted);
  const lag = monitorEventLoopDelay({ resolution: 5 });
  let turns = 0;
  const turn = setInterval(() => {
    turns += 1;
  }, 1);
  lag.enable();
  await service.query(file("export const a = { b: [1, 2, 3] };\n".repeat(4_000)), outline, neverAborted);
  lag.disable();
  clearInterval(turn);
  expect(turns).toBeGreaterThan(3);
});
