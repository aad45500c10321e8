/** Requests that an agent has to delegate: recognised by their words, before the model is called. */
import { describe, expect, test } from "vitest";
import { ToolSpec } from "../../protocol/tool.ts";
import { aToolCall, childSettled, delegateTo, reply, toolFinished } from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";
import { matchTrigger } from "./triggers.ts";

const words = ["report", "in-depth", "comprehensive", "summary of * search results"];
const triggers = [{ words, agent: "writer", after: ["web_search"] }];
const unready = ToolSpec.parse({
  name: "web_search",
  description: "Searches the web",
  risk: "low",
  effect: "read",
  inputSchema: {},
  unready: "no search service is configured",
});

describe("a request matches", () => {
  test.each([
    ["write a report on tides", "report"],
    ["REPORT: tides", "report"],
    ["a Comprehensive look", "comprehensive"],
    ["go in depth on tides", "in-depth"],
    ["go in-depth", "in-depth"],
    ["a summary of search results", "summary of * search results"],
    ["give me a summary of the first ten search results, please", "summary of * search results"],
    ["Erstelle “report”!", "report"],
    ["a report/analysis of tides", "report"],
    ["Write a report.", "report"],
  ])("%s", (request, phrase) => {
    expect(matchTrigger(triggers, request)?.phrase).toBe(phrase);
  });
});

describe("a request does not match", () => {
  test.each([
    "the reporter called",
    "unreported",
    "a depth gauge in the yard",
    "a summary of this file",
    "a summary of one two three four five search results",
    "",
    "re-porting the code",
    "mend src/report.ts",
    "mend report.ts and report/index.ts",
    "rename report_id and src/report",
    "list the folder report/",
    "call stats.report",
  ])("%s", (request) => {
    expect(matchTrigger(triggers, request)).toBeNull();
  });
});

test("a phrase with characters of regular expressions means these characters", () => {
  expect(matchTrigger([{ words: ["c++ (new)"], agent: "a", after: [] }], "port it to C++ (new) now")).not.toBeNull();
  expect(matchTrigger([{ words: ["a.c"], agent: "a", after: [] }], "abc")).toBeNull();
});

function reporting(request = "write a report", changes: Parameters<typeof drive>[0] = {}): MachineDriver {
  const d = drive({ definition: { triggers }, grantedTools: ["web_search", "read"], ...changes }, { task: request });
  d.look();
  return d;
}

function searched(d: MachineDriver): MachineDriver {
  d.feed(reply(1, "", [aToolCall("web_search")]));
  d.feed(toolFinished(1, 0, "ten addresses", { tool: "web_search" }));
  return d;
}

const lastMessage = (d: MachineDriver) => d.effect("callModel").messages.at(-1);

describe("a run that has to delegate", () => {
  test("knows it before its first turn", () => {
    expect(reporting().context().intent.context.notes).toEqual([
      "has to be delegated to writer: the request says “report”",
    ]);
  });

  test("may not delegate before it has searched", () => {
    const d = reporting();
    d.feed(reply(1, "", [delegateTo("writer")]));
    expect(lastMessage(d)).toMatchObject({
      role: "tool",
      isError: true,
      text: expect.stringContaining("first call web_search, and pass the results"),
    });
  });

  test("may delegate to other agents at once", () => {
    const d = reporting();
    d.feed(reply(1, "", [delegateTo("helper")]));
    expect(d.effect("runChild").request.agent).toBe("helper");
  });

  test("delegates after its search, and then answers", () => {
    const d = searched(reporting());
    d.feed(reply(2, "", [delegateTo("writer")]));
    d.feed(childSettled(2, 0, { agent: "writer" }));
    d.feed(reply(3, "here it is"));
    expect(d.state()).toBe("respond.settling");
    expect(d.response()).toMatchObject({ status: "completed", details: "here it is" });
  });

  test("is reminded twice if it answers by itself, and then fails", () => {
    const d = searched(reporting());
    for (const step of [2, 3]) {
      d.feed(reply(step, "I wrote it myself"));
      expect([d.state(), lastMessage(d)]).toEqual([
        "execute.think",
        { role: "user", text: expect.stringContaining("so writer has to do this work, and it was not asked") },
      ]);
    }
    d.feed(reply(4, "I wrote it myself"));
    expect(d.response()).toMatchObject({
      status: "failed",
      error: { type: "verification", message: expect.stringContaining("had to be delegated to writer") },
    });
  });

  test("has done its duty when the child has ended, whatever its result", () => {
    const d = searched(reporting());
    d.feed(reply(2, "", [delegateTo("writer")]));
    d.feed(childSettled(2, 0, { agent: "writer", status: "timeout" }));
    d.feed(reply(3, "it timed out"));
    expect(d.response()).toMatchObject({ status: "completed" });
  });

  test("fails without a reminder if no turn is left", () => {
    const d = reporting("write a report", { limits: { maxIterations: 1 } });
    d.feed(reply(1, "I wrote it myself"));
    expect(d.response()).toMatchObject({ status: "failed", error: { type: "verification" } });
  });
});

describe("no delegation is required", () => {
  test.each([
    ["of a request with other words", {}, { task: "fix the bug" }],
    ["of a child", {}, { task: "write a report", depth: 1 }],
    ["if the agent is out of reach", { targets: ["helper"] }, { task: "write a report" }],
    ["without a tool to search with", { grantedTools: ["read"] }, { task: "write a report" }],
    ["if its search cannot work here", { grantedTools: ["web_search"], tools: [unready] }, { task: "write a report" }],
  ])("%s", (_, changes, request) => {
    const d = drive({ definition: { triggers }, grantedTools: ["web_search", "read"], ...changes }, request);
    d.feed(reply(1, "done"));
    expect(d.response()).toMatchObject({ status: "completed" });
  });
});
