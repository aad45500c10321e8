/** Tests, changed files and artifacts of runs: they come from outcomes, and go up from child to parent. */
import { describe, expect, test } from "vitest";
import type { FileChange, ToolCall } from "../../protocol/tool.ts";
import {
  anError,
  aToolCall,
  childSettled,
  delegateTo,
  delegations,
  reply,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";

type Outcome = Parameters<typeof toolFinished>[3];

/** A run that makes these calls, one in each of its turns, and answers. */
function after(...calls: [ToolCall, Outcome][]): MachineDriver {
  const d = drive();
  for (const [i, [call, outcome]] of calls.entries()) {
    d.feed(reply(i + 1, "", [call]));
    d.feed(toolFinished(i + 1, 0, "ok", { tool: call.name, ...outcome }));
  }
  d.feed(reply(calls.length + 1, "done"));
  return d;
}

const tests = (run: number, passed: number): Outcome => ({
  tests: { run, passed, failed: run - passed, skipped: 0 },
});
const aFailure = anError();
const all = aToolCall("test");
const part = aToolCall("test", { path: "a.test.ts" });

describe("tests", () => {
  test.each<[string, [ToolCall, Outcome][], [number, number]]>([
    ["none were run", [], [0, 0]],
    ["run once", [[all, tests(3, 2)]], [3, 2]],
    [
      "repeated tests count once, with the latest result",
      [
        [all, tests(3, 2)],
        [all, tests(4, 4)],
      ],
      [4, 4],
    ],
    [
      "other arguments are other tests",
      [
        [all, tests(3, 2)],
        [part, tests(1, 1)],
        [all, tests(3, 3)],
      ],
      [4, 4],
    ],
    [
      "the order of arguments does not matter",
      [
        [aToolCall("test", { a: 1, b: 2 }), tests(3, 2)],
        [aToolCall("test", { b: 2, a: 1 }), tests(3, 3)],
      ],
      [3, 3],
    ],
    [
      "a run that could not be counted removes the older figures",
      [
        [all, tests(3, 3)],
        [all, { error: { ...aFailure, type: "timeout" } }],
      ],
      [0, 0],
    ],
    [
      "a refused run does not change the figures",
      [
        [all, tests(3, 3)],
        [all, { error: { ...aFailure, type: "permission" } }],
      ],
      [3, 3],
    ],
    [
      "other tools do not change the figures",
      [
        [all, tests(3, 3)],
        [aToolCall("write"), {}],
      ],
      [3, 3],
    ],
  ])("%s", (_, calls, [testsRun, testsPassed]) => {
    expect(after(...calls).response()).toMatchObject({ testsRun, testsPassed });
  });

  test("of children are included; a repetition of the same tests by another run counts once", () => {
    const d = drive();
    d.feed(reply(1, "", [all, ...delegations(2)]));
    d.feed(toolFinished(1, 0, "ok", { tool: "test", ...tests(3, 1) }));
    const [own, other] = [
      after([all, tests(3, 2)]).response(),
      after([all, tests(3, 3)], [part, tests(1, 0)]).response(),
    ];
    for (const [call, { testsRun, testsPassed, testSuites }] of [own, other].entries()) {
      d.feed(childSettled(1, call + 1, { testsRun, testsPassed, testSuites }));
    }
    d.feed(reply(2, "done"));
    expect(d.response()).toMatchObject({ testsRun: 4, testsPassed: 3 });
    expect(d.response().testSuites).toHaveLength(2);
  });
});

describe("files", () => {
  const change = (path: string, kind: FileChange["kind"]): FileChange => {
    return { path, kind, before: null, after: null, diff: "", diffRef: null, linesAdded: 0, linesRemoved: 0 };
  };
  const edit = (...changes: FileChange[]): [ToolCall, Outcome] => [
    aToolCall("apply_patch", { patch: changes.map(({ kind }) => kind).join() }),
    { changes },
  ];

  test("have the change that was made to them", () => {
    const d = after(edit(change("new", "created"), change("old", "modified"), change("gone", "deleted")));
    expect(d.response()).toMatchObject({ filesCreated: ["new"], filesModified: ["old"], filesDeleted: ["gone"] });
  });

  test("named as evidence and as a change are listed once, as the change", () => {
    const changes = [change("a", "created"), change("gone", "deleted")];
    const d = after([aToolCall("write"), { filesCreated: ["a"], filesModified: ["gone", "named"], changes }]);
    expect(d.response()).toMatchObject({ filesCreated: ["a"], filesModified: ["named"], filesDeleted: ["gone"] });
  });

  test("that were deleted are not listed as made or changed, and restored files are not listed as deleted", () => {
    const gone = after(edit(change("a", "created")), edit(change("a", "modified")), edit(change("a", "deleted")));
    expect(gone.response()).toMatchObject({ filesCreated: [], filesModified: [], filesDeleted: ["a"] });
    const back = after(edit(change("a", "deleted")), edit(change("a", "created")));
    expect(back.response()).toMatchObject({ filesCreated: ["a"], filesDeleted: [] });
  });

  test("of children are included", () => {
    const d = drive();
    d.feed(reply(1, "", [aToolCall("write"), delegateTo("helper")]));
    d.feed(toolFinished(1, 0, "ok", { tool: "write", filesCreated: ["a", "b"] }));
    d.feed(childSettled(1, 1, { filesDeleted: ["a"] }));
    d.feed(reply(2, "done"));
    expect(d.response()).toMatchObject({ filesCreated: ["b"], filesDeleted: ["a"] });
  });
});

test("artifacts are listed once each, with those of children", () => {
  const report = { name: "report.md", ref: "aaaa" };
  const d = drive();
  d.feed(reply(1, "", [aToolCall("workbench_upload"), aToolCall("workbench_upload"), delegateTo("helper")]));
  d.feed(toolFinished(1, 0, "ok", { tool: "workbench_upload", artifacts: [report] }));
  d.feed(toolFinished(1, 1, "ok", { tool: "workbench_upload", artifacts: [report] }));
  d.feed(childSettled(1, 2, { artifacts: [report, { name: "report.md", ref: "bbbb" }] }));
  d.feed(reply(2, "done"));
  expect(d.response().artifacts).toEqual([report, { name: "report.md", ref: "bbbb" }]);
});
