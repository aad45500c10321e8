/** Each check decides by files, calls and counts, works in the run and in its parent, and fails if it cannot decide. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type RunResponse, ToolOutcome } from "@troupe/core";
import { notStartedResponse, permanentError } from "@troupe/core/internal";
import { createSimulatedClock } from "@troupe/core/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rootRequest } from "../host/host-deps.test-helper.ts";
import { citationsIn } from "./citations-resolve.ts";
import { builtinVerifiers, type VerifierSubject, verifyAll } from "./verifier.ts";

let workspace: string;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "troupe-verifier-"));
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(workspace, path)), { recursive: true });
  await writeFile(join(workspace, path), text);
}

function responseWith(changes: Partial<RunResponse> = {}): RunResponse {
  const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });
  return {
    ...notStartedResponse(request, "completed", permanentError("params", "x")),
    request: "work",
    details: "",
    summary: "",
    ...changes,
  };
}

type Params = Parameters<typeof verifyAll>[1][number]["params"];

function check(
  name: string,
  params: Params,
  response: Partial<RunResponse> = {},
  subject: Partial<VerifierSubject> = {},
) {
  return verifyAll(builtinVerifiers, [{ name, params }], {
    ...{ response: responseWith(response), task: "work", answer: "", key: "verify/1", workspace },
    ...subject,
  });
}

test("no check takes params that it does not know", async () => {
  for (const name of Object.keys(builtinVerifiers)) {
    expect(await check(name, { nonsense: 1 })).toEqual([
      expect.stringContaining(`${name}: its parameters are invalid`),
    ]);
  }
});

test("an unknown check, one that throws, and one that never ends are failures", async () => {
  const clock = createSimulatedClock(0);
  const verifiers = {
    throws: () => Promise.reject(new Error("broken")),
    hangs: () => new Promise<string[]>(() => {}),
  };
  const specs = ["missing", "throws", "hangs"].map((name) => ({ name, params: {} }));
  const failures = verifyAll(
    verifiers,
    specs,
    { ...{ response: responseWith(), workspace }, ...{ task: "work", answer: "", key: "verify/1" } },
    { clock, timeoutMs: 5 },
  );
  clock.advance(5);
  expect(await failures).toEqual([
    'no verifier is called "missing"; there are: throws, hangs',
    'verifier "throws" failed: broken',
    'verifier "hangs" failed: it took longer than 5 ms',
  ]);
});

describe("files-exist", () => {
  test("counts no file outside of the workspace", async () => {
    await symlink("/etc", join(workspace, "link"));
    expect(await check("files-exist", { paths: ["/etc/passwd", "../..", "link/passwd"] })).toHaveLength(3);
  });
});

describe("json-schema", () => {
  const schema = { type: "object", required: ["total_articles"], properties: { total_articles: { type: "integer" } } };

  test("names each problem of the file", async () => {
    expect(await check("json-schema", { path: "a.json", schema })).toEqual([
      'verifier "json-schema" failed: the file a.json is missing',
    ]);
    await put("a.json", '{"total_articles":"two"}');
    expect(await check("json-schema", { path: "a.json", schema })).toEqual([
      expect.stringMatching(/^a\.json at total_articles: expected (int|integer|number), received string$/),
    ]);
    await put("a.json", '{"total_articles":2}');
    expect(await check("json-schema", { path: "a.json", schema })).toEqual([]);
  });
});

describe("command-succeeds", () => {
  test("runs the command by the shell tool, and believes its end alone", async () => {
    const calls: unknown[] = [];
    const runTool = async (name: string, args: unknown) => {
      calls.push({ name, args });
      const failed = JSON.stringify(args).includes("false");
      return ToolOutcome.parse(
        failed
          ? { output: "exit code 1", error: permanentError("tool_error", "the command ended with exit code 1") }
          : { output: "ok" },
      );
    };
    expect(await check("command-succeeds", { command: "true" }, {}, { runTool })).toEqual([]);
    expect(await check("command-succeeds", { command: "false", timeoutMs: 5 }, {}, { runTool })).toEqual([
      'the command "false" did not succeed: the command ended with exit code 1\nexit code 1',
    ]);
    expect(calls).toEqual([
      { name: "shell", args: { command: "true", timeoutMs: 60_000 } },
      { name: "shell", args: { command: "false", timeoutMs: 5 } },
    ]);
    expect(await check("command-succeeds", { command: "true" })).toEqual([expect.stringContaining("is not checked")]);
  });
});

describe("tests-pass", () => {
  test.for([
    [{ testsRun: 3, testsPassed: 3 }, {}, []],
    [
      { testsRun: 0, testsPassed: 0, details: "All tests pass." },
      {},
      ["0 tests ran, and at least 1 had to: run them with the test tool"],
    ],
    [{ testsRun: 3, testsPassed: 2 }, {}, ["1 of 3 tests did not pass"]],
    [
      { testsRun: 3, testsPassed: 3 },
      { minimum: 4 },
      ["3 tests ran, and at least 4 had to: run them with the test tool"],
    ],
  ] as const)("%j with %j", async ([response, params, problems]) => {
    expect(await check("tests-pass", params, response)).toEqual(problems);
  });

  test("can run the tests itself", async () => {
    const runTool = async () => ToolOutcome.parse({ output: "", tests: { run: 2, passed: 1, failed: 1, skipped: 0 } });
    expect(await check("tests-pass", { run: true }, { testsRun: 9, testsPassed: 9 }, { runTool })).toEqual([
      "1 of 2 tests did not pass",
    ]);
    expect(await check("tests-pass", { run: true })).toEqual(["tests-pass: no tests can be run here"]);
  });
});

describe("citations-resolve", () => {
  const corpus = JSON.stringify({ articles: [{ url: "https://a.example/x(1)" }, { url: "http://www.b.example/" }] });

  test("finds each address and path that is not there", async () => {
    await put("expanded_corpus.json", corpus);
    await put("notes/a.md", "");
    const text =
      'By [A](https://a.example/x(1)), http://www.b.example#top. See <a href="notes/a.md?x#y">it</a> or <a href="#top">up</a>.';
    expect(await check("citations-resolve", {}, { details: text })).toEqual([]);
    await put(
      "report.html",
      `${text} <a href="https://c.example/made-up">C</a> [D](notes/none.md) <svg xmlns="http://www.w3.org/2000/svg">`,
    );
    expect(await check("citations-resolve", { path: "report.html" })).toEqual([
      "report.html cites https://c.example/made-up, which is not in expanded_corpus.json",
      "report.html cites notes/none.md, which does not exist",
    ]);
  });

  test("fails without citations, and without a corpus", async () => {
    expect(await check("citations-resolve", {})).toEqual([expect.stringContaining("expanded_corpus.json is missing")]);
    await put("expanded_corpus.json", "{}");
    expect(await check("citations-resolve", {})).toEqual([expect.stringContaining("is not a corpus")]);
    await put("expanded_corpus.json", corpus);
    expect(await check("citations-resolve", {}, { details: "no source" })).toEqual([
      "the answer has 0 citations, and at least 1 are needed",
    ]);
  });

  test("knows where an address ends", () => {
    const { urls } = citationsIn("(https://a.example/b), https://a.example/c_(d). <https://a.example/e?f=1&amp;g=2>");
    expect(urls).toEqual(["https://a.example/b", "https://a.example/c_(d)", "https://a.example/e?f=1&g=2"]);
  });
});

describe("claims-have-calls", () => {
  test.for([
    ["I ran all the tests, and they are fine.", [], "to have run the tests"],
    ["Done. All 12 tests pass.", ["write"], "to have run the tests"],
    ["We've executed the build.", [], "to have run a command"],
    ["I fetched the three pages.", ["web_search"], "to have read web pages"],
    ["I searched the web for it.", [], "to have searched the web"],
    ["I committed the changes.", ["edit"], "to have committed the change"],
  ] as const)("flags %s with %j", async ([details, toolsUsed, what]) => {
    const failures = await check("claims-have-calls", {}, { details, toolsUsed: [...toolsUsed] });
    expect(failures).toEqual([expect.stringContaining(`the answer claims ${what}`)]);
  });

  test.for([
    ["I ran all the tests.", ["test"]],
    ["I ran all the tests.", ["delegate"]],
    ["I fetched the pages.", ["crawl_parallel"]],
    ["You should run the tests.", []],
    ["The tests live in test/.", []],
  ] as const)("accepts %s with %j", async ([details, toolsUsed]) => {
    expect(await check("claims-have-calls", {}, { details, toolsUsed: [...toolsUsed] })).toEqual([]);
  });
});

describe("report-corpus", () => {
  test.for(["report", "Comprehensive", "<HTML>", "work_products/a"])(
    "asks for the corpus of a result with %s",
    async (word) => {
      const failures = await check("report-corpus", {}, { details: `Here is your ${word}` });
      expect(failures).toEqual([expect.stringMatching(/^COMPLIANCE ERROR: .*no expanded_corpus\.json/)]);
      await put("expanded_corpus.json", "{}");
      expect(await check("report-corpus", {}, { details: word })).toEqual([]);
    },
  );

  test("asks for nothing of another task, and reads the words of the task too", async () => {
    expect(await check("report-corpus", {}, { details: "2 + 2 = 4" })).toEqual([]);
    expect(await check("report-corpus", {}, { details: "done" }, { task: "Write a report" })).toHaveLength(1);
    expect(await check("report-corpus", { words: ["essay"] }, { details: "my report" })).toEqual([]);
  });
});
