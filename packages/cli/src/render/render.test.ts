import { describe, expect, test } from "vitest";
import { createTerminal, wantsColour } from "../terminal/terminal.ts";
import { aRun } from "../testing/rows.ts";
import { cleanLine, cleanText, jsonLine, visibleJson } from "./clean.ts";
import { formatDuration } from "./format.ts";
import { layout, textWidth, truncate, wrap } from "./layout.ts";
import { createProgress } from "./progress.ts";
import { renderTree } from "./tree.ts";

const { colours } = createTerminal({ stdout: process.stdout, stderr: process.stderr, env: { NO_COLOR: "1" } }).out;
// biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the test
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

describe("text from outside", () => {
  test.each([
    ["a colour", "a\u001b[31mred\u001b[0m", "ared"],
    ["a clipboard write (OSC 52)", "x\u001b]52;c;cm0gLXJm\u0007y", "xy"],
    ["a link (OSC 8)", "\u001b]8;;http://evil\u001b\\click\u001b]8;;\u001b\\", "click"],
    ["an OSC without an end", "x\u001b]52;c;abc", "x;abc"],
    ["a cursor move", "a\u001b[2J\u001b[1;1Hb", "ab"],
    ["an 8-bit CSI", "a\u009b31mb", "ab"],
    ["a bell, a backspace and a delete", "a\u0007\u0008\u007fb", "ab"],
    ["a line rewritten by a carriage return", "safe\revil", "safeevil"],
    ["a line turned around", "a\u202eb\u202c", "ab"],
    ["tabs and newlines, which stay", "a\tb\r\nc\n", "a\tb\nc\n"],
  ])("loses %s", (_what, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  test("has no control character left, for any input", () => {
    const pieces = ["\u001b", "[", "]", "52;c;", "\u0007", "\u009d", "\u009c", "P", "m", "31", "\\", "\u0000", "x"];
    let seed = 7;
    for (let round = 0; round < 2_000; round += 1) {
      let text = "";
      for (let i = 0; i < 12; i += 1) {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        text += pieces[seed % pieces.length];
      }
      expect(cleanText(text)).not.toMatch(control);
    }
  });

  test("is one line if only one line is available", () => {
    expect(cleanLine(" a\n\n  b\r\tc ")).toBe("a b c");
  });

  test("hides nothing in a question to a person", () => {
    const args = { command: "ls \u202eevil\u200b", note: "a\nb\u001b[2J", "k\u009b": "\u{e0041}" };
    const text = visibleJson(args, 2);
    expect(text).not.toMatch(/[\p{Cf}\p{Zl}]/u);
    expect(text.replaceAll("\n", "")).not.toMatch(control);
    expect(text).toContain("\\u202eevil\\u200b");
    expect(JSON.parse(text)).toEqual(args);
  });

  test("survives JSON, without control characters", () => {
    const value = { text: "\u009b31m\u001b]0;x\u0007\u007f" };
    expect(jsonLine(value)).not.toMatch(control);
    expect(JSON.parse(jsonLine(value))).toEqual(value);
  });
});

test.each([
  [0, "0 ms"],
  [999.4, "999 ms"],
  [3_400, "3.4 s"],
  [59_949, "59.9 s"],
  [59_951, "1 m 00 s"],
  [125_000, "2 m 05 s"],
  [3_720_000, "1 h 02 m"],
  [273_600_000, "3 d 04 h"],
  [-5, "0 ms"],
])("%d ms is written %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  ["abc", 3],
  ["日本", 4],
  ["e\u0301", 1],
  ["🚀", 2],
])("%s takes %d columns", (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test("wrapped text fits and is complete", () => {
  expect(wrap("日本語です", 5)).toEqual(["日本", "語で", "す"]);
  expect(wrap("one\ntwo three", 4)).toEqual(["one", "two ", "thre", "e"]);
  expect(wrap("", 4)).toEqual([""]);
});

test("truncated text fits and ends with an ellipsis", () => {
  expect(truncate("日本語です", 6)).toBe("日本…");
  expect(truncate("short", 5)).toBe("short");
  expect(truncate("anything", 0)).toBe("");
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { TERM: "dumb" }, false],
  [false, { FORCE_COLOR: "1" }, true],
  [true, { FORCE_COLOR: "0" }, false],
  [true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
])("on a terminal: %s, with %j, colours: %s", (isTerminal, env, wanted) => {
  expect(wantsColour(isTerminal, env)).toBe(wanted);
});

describe("aligned columns", () => {
  const red = (text: string) => `<${text}>`;

  test("the flexible one gives way to the width", () => {
    const rows = [
      [{ text: "a" }, { text: "a long text that has to give way" }, { text: "1.0 s" }],
      [{ text: "bbb" }, { text: "short" }, { text: "10.0 s" }],
    ];
    const lines = layout([{}, { flexible: true }, { align: "right" }], rows, 30);
    expect(lines).toEqual(["a    a long text that…   1.0 s", "bbb  short              10.0 s"]);
    expect(lines.every((line) => textWidth(line) <= 30)).toBe(true);
  });

  test("an empty column has no width", () => {
    const rows = [[{ text: "a" }, { text: "" }, { text: "wide enough to give way" }, { text: "b" }]];
    expect(layout([{}, {}, { flexible: true }, {}], rows, 18)).toEqual(["a  wide enough…  b"]);
  });

  test("colours surround the text only, never the padding", () => {
    expect(layout([{}, {}], [[{ text: "a", paint: red }, { text: "b" }], [{ text: "aaa" }]], 80)).toEqual([
      "<a>    b",
      "aaa",
    ]);
  });
});

describe("a session as a tree", () => {
  const root = aRun({ run: "0198a111-7abc-7000-8000-000000000001", task: "build it" });
  const child = aRun({
    run: "11111111-7abc-8000-8000-000000000001",
    parentRun: root.run,
    order: 1,
    agent: "coder",
    task: "write it",
    iterations: 1,
  });
  const grandchild = aRun({
    run: "22222222-7abc-8000-8000-000000000001",
    parentRun: child.run,
    order: 2,
    agent: "tester",
    task: "test it",
  });
  const failed = aRun({
    run: "33333333-7abc-8000-8000-000000000001",
    parentRun: root.run,
    order: 3,
    agent: "researcher",
    status: "failed",
    attempt: 2,
    error: "no\u001b[31m net\nwork",
  });
  const running = aRun({
    run: "44444444-7abc-8000-8000-000000000001",
    parentRun: root.run,
    order: 4,
    agent: "writer",
    status: "running",
    completedAt: null,
    activity: "waits for coder",
  });

  test("shows branches, a glyph with a word, task, time and attempts, in the order of their start", () => {
    const runs = [failed, grandchild, running, root, child];
    expect(renderTree(runs, { width: 90, colours, now: 8_000 })).toEqual([
      "✓ lead           completed  build it   3.4 s  3 steps  cost unknown               0198a111-7abc",
      "├─ ✓ coder       completed  write it   3.4 s   1 step  cost unknown               11111111",
      "│  └─ ✓ tester   completed  test it    3.4 s  3 steps  cost unknown               22222222",
      "├─ ✗ researcher  failed     say hello  3.4 s  3 steps  cost unknown  attempt 2/2  33333333",
      "│     no net work",
      "└─ ● writer      running    say hello  8.0 s  3 steps  cost unknown               44444444",
      "      waits for coder",
    ]);
  });

  test("keeps a run whose parent is missing", () => {
    expect(renderTree([grandchild], { width: 78, colours, now: 0 })).toHaveLength(1);
  });

  test("handles a thousand levels", () => {
    let parentRun: string | null = null;
    const deep = Array.from({ length: 1_000 }, (_, order) => {
      const run = aRun({ parentRun, order });
      parentRun = run.run;
      return run;
    });
    expect(renderTree(deep, { width: 78, colours, now: 0 })).toHaveLength(1_000);
  });
});

describe("progress", () => {
  const create = () => createProgress({ width: 100, colours, startedAt: 0 });
  const change = (runs: ReturnType<typeof aRun>[]) => ({ position: 1, sessions: [], runs, approvals: [] });
  const root = aRun({ status: "running", completedAt: null, task: "build it" });
  const child = aRun({
    parentRun: root.run,
    order: 1,
    depth: 1,
    agent: "coder",
    status: "running",
    completedAt: null,
    startedAt: new Date(1_000).toISOString(),
    task: "write\u001b[2J it",
  });
  const wrote = { ...child, filesModified: ["a.md"], lastEventAt: new Date(2_000).toISOString() };

  test("shows a model call that waits for a retry, with its wait and count, but not a short wait", () => {
    const progress = create();
    progress.apply(change([root, child]));
    const event = { v: 1, session: child.session, run: child.run, agent: "coder", message: "slow down" } as const;
    const retrying = {
      ...event,
      kind: "model.retrying",
      type: "rate_limit",
      waitMs: 7_400,
      tries: 1,
      triesMax: 5,
    } as const;
    expect(progress.live(retrying, 2_500)).toEqual(["   2.5s    ↻ coder was rate-limited: retry in 8 s (2 of 5)"]);
    expect(progress.live({ ...retrying, type: "network", tries: 2 }, 3_000)).toEqual([
      "   3.0s    ↻ coder could not reach its model: retry in 8 s (3 of 5)",
    ]);
    expect(progress.live({ ...retrying, waitMs: 3_600_000, tries: 6, triesMax: null }, 3_000)).toEqual([
      "   3.0s    ↻ coder was rate-limited: retry in 1 h 00 m",
    ]);
    expect(progress.live({ ...retrying, waitMs: 999 }, 3_000)).toEqual([]);
    expect(progress.live({ ...retrying, run: "unheard-of" }, 3_000)).toEqual([]);
    expect(progress.live({ ...event, kind: "text.delta", text: "hi" }, 3_000)).toEqual([]);
  });

  test("shows each finished call of a sub-agent with its argument, time and result", () => {
    const progress = create();
    progress.apply(change([root, child]));
    const event = { v: 1, session: child.session, run: child.run, agent: "coder", kind: "tool.finished" } as const;
    const call = { ...event, tool: "shell", detail: "npm\u001b[2J test", durationMs: 1_200, ok: true };
    expect(progress.live({ ...call, result: "exit 0" }, 3_000)).toEqual([
      "   3.0s    ⚙ coder shell: npm test · 1.2 s · exit 0",
    ]);
    expect(progress.live({ ...call, tool: "ls", detail: "", result: "" }, 4_000)).toEqual([
      "   4.0s    ⚙ coder ls · 1.2 s",
    ]);
    expect(progress.live({ ...call, run: "unheard-of", result: "" }, 4_000)).toEqual([]);
  });

  test("prints each start, delegation, file and end once", () => {
    const progress = create();
    expect(progress.apply(change([root]))).toEqual(["   0.0s  ● lead: build it"]);
    expect(progress.apply(change([child, root]))).toEqual(["   1.0s    ● lead → coder: write it"]);
    expect(progress.apply(change([wrote]))).toEqual(["   2.0s    ✎ coder changed a.md"]);
    expect(progress.apply(change([wrote, root]))).toEqual([]);
    const settled = {
      ...wrote,
      exactStatus: "completed",
      completedAt: new Date(3_400).toISOString(),
      durationMs: 2_400,
    };
    expect(progress.apply(change([{ ...settled, summary: "all\u001b]52;c;x\u0007 good" }]))).toEqual([
      "   3.4s    ✓ coder completed in 2.4 s: all good",
    ]);
    expect(progress.apply(change([settled]))).toEqual([]);
  });

  test("shows a child's file once, not again in its parent's summary", () => {
    const progress = create();
    progress.apply(change([root, wrote]));
    const done = { ...root, completedAt: new Date(4_000).toISOString(), filesModified: ["a.md", "own.md"] };
    const lines = progress.apply(change([done])).join("\n");
    expect(lines).toContain("lead changed own.md");
    expect(lines).not.toContain("lead changed a.md");
  });

  test("shows a file at its change, and not again in a parent's summary", () => {
    const progress = create();
    progress.apply(change([root, child]));
    const settled = { exactStatus: "completed", completedAt: new Date(3_000).toISOString() };
    const files = (lines: string[]) => lines.filter((line) => line.includes("✎"));
    const both = [
      { ...root, ...settled, filesModified: ["a.md", "own.md"] },
      { ...child, ...settled, filesModified: ["a.md"] },
    ];
    expect(files(progress.apply(change(both))).map((line) => line.replace(/^.*✎ /, ""))).toEqual([
      "lead changed own.md",
      "coder changed a.md",
    ]);
  });

  test("shows a retry apart from a first attempt, and the reason of a failure", () => {
    const progress = create();
    progress.apply(change([root]));
    const failed = { ...child, status: "failed" as const, exactStatus: "failed", error: "no network" };
    const lines = progress.apply(
      change([
        { ...failed, completedAt: new Date(1_500).toISOString(), durationMs: 500 },
        { ...child, run: aRun().run, order: 2, attempt: 2, startedAt: new Date(1_800).toISOString() },
      ]),
    );
    expect(lines).toEqual([
      "   1.0s    ● lead → coder: write it",
      "   1.5s    ✗ coder failed in 500 ms: no network",
      "   1.8s    ↻ coder tries again (2/2): write it",
    ]);
  });

  test("fits the terminal", () => {
    const progress = createProgress({ width: 40, colours, startedAt: 0 });
    const [line = ""] = progress.apply(change([{ ...root, task: "a ".repeat(100) }]));
    expect(textWidth(line)).toBeLessThanOrEqual(40);
  });
});
