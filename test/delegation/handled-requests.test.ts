/** Requests that a handler works on: no model is called, and everything is journaled as for a model. */
import { ApprovalAnswer, type Entry, type HandlerStep, type RequestHandler, RunFailure } from "@troupe/core";
import { defineTool } from "@troupe/core/tool";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openedIn, responseIn } from "./journal-queries.ts";
import { call } from "./scripted-agents.ts";
import { type TeamOptions, withTeam } from "./team.ts";

const findTickets = defineTool({
  name: "tickets_search",
  description: "Finds tickets.",
  input: z.strictObject({ text: z.string() }),
  risk: "low",
  effect: "read",
  run: async ({ text }) => ({ output: JSON.stringify({ tickets: [{ id: "T-1", title: text }] }) }),
});

const closeTicket = defineTool({
  name: "tickets_close",
  description: "Closes a ticket.",
  input: z.strictObject({ id: z.string() }),
  risk: "high",
  effect: "idempotent",
  async run({ id }) {
    if (id !== "T-1") throw new RunFailure({ type: "params", message: `no ticket ${id}`, recoverable: false });
    return { output: JSON.stringify({ closed: id }) };
  },
});

const tools = [findTickets, closeTicket];
const intent = {
  params: {},
  risk: "low" as const,
  expectedFormat: "a list of tickets",
  successCriteria: "the tickets are listed",
  errorPlan: ["a network error: try again"],
};
const answer = (summary: string): HandlerStep => ({
  kind: "answer",
  answer: { summary, details: "", assumptions: ["All projects count."], missing: [], confidence: 0.9 },
});

/** "find …" searches, "close T-1" closes; everything else is for a model. */
const tickets: RequestHandler = {
  name: "tickets",
  async assess({ task, userId }) {
    if (task.startsWith("break")) throw new Error("the pattern file is broken");
    const [verb, rest = ""] = task.split(/ (.*)/s);
    if (verb === "find") {
      return { ...intent, tools: [findTickets.spec.name], params: { text: rest }, notes: [`for ${userId}`] };
    }
    if (verb !== "close") return null;
    const problem = { type: "params" as const, message: "say which ticket", tool: null, retryAfterMs: null };
    return {
      ...intent,
      tools: [closeTicket.spec.name],
      params: { id: rest },
      risk: "high",
      notes: [],
      ...(rest === "" ? { problem: { ...problem, recoverable: false } } : {}),
    };
  },
  async next({ intent: { context }, results }) {
    const [tool = ""] = context.tools;
    const [done] = results;
    if (!done) return { kind: "calls", calls: [{ tool, args: context.params }], note: "Asking the tracker." };
    if (done.ok) return answer(tool === closeTicket.spec.name ? "The ticket is closed." : "One ticket was found.");
    const error = { type: "params" as const, message: done.text, tool, recoverable: false, retryAfterMs: null };
    return { kind: "failure", error };
  },
};

/** Passes every request on to the domain agent. */
const front: RequestHandler = {
  name: "front",
  assess: async ({ task }) => ({ ...intent, tools: ["delegate"], params: { task }, notes: [] }),
  async next({ intent: { context }, results, request }) {
    const agent = request.agents[0] ?? "";
    const args = { agent, task: String(context.params.task) };
    if (results.length === 0) return { kind: "calls", calls: [{ tool: "delegate", args }], note: "" };
    return answer(JSON.stringify(results[0]?.output));
  },
};

const expert = { id: "expert", domain: "tickets", intent: "patterns" as const, handler: "tickets" };
const team: TeamOptions = {
  tools,
  handlers: [tickets, front],
  agents: [{ id: "main", intent: "patterns", handler: "front", subagents: { allow: ["expert"] } }, expert],
};
const alone: TeamOptions = { ...team, agents: [{ ...expert, id: "main" }] };

describe("a request that a handler understands", () => {
  it("is answered without a model, from its intent to the delegation result of its parent", async () => {
    await withTeam(team, async (running) => {
      const response = await running.ask("find the printer", { userId: "kim" });
      expect(running.questions).toEqual([]);
      expect(JSON.parse(response.summary)).toEqual({
        agent: "expert",
        run_id: expect.any(String),
        status: "completed",
        success: true,
        domain: "tickets",
        request: "find the printer",
        result: {
          data: { tickets: [{ id: "T-1", title: "the printer" }] },
          summary: "One ticket was found.",
          tools_used: ["tickets_search"],
          execution_time: expect.any(Number),
        },
        confidence: 0.9,
        assumptions: ["All projects count."],
        missing: [],
      });
      expect(response.metrics.subtree).toMatchObject({ runs: 2, totalTokens: 0, costUsd: 0 });
    });
  });

  it("has its intent in the journal before any tool runs", async () => {
    await withTeam(alone, async (running) => {
      const session = await running.begin("find the printer", { userId: "kim" });
      expect(await session.response).toMatchObject({ status: "completed" });
      const entries = await running.entries(session);
      const kinds = entries.map(({ kind }) => kind);
      expect(kinds.indexOf("intent.assessed")).toBeLessThan(kinds.indexOf("tool.finished"));
      const assessed = entries.find((entry) => entry.kind === "intent.assessed");
      expect(assessed).toMatchObject({
        usage: null,
        intent: {
          by: "patterns",
          handler: "tickets",
          expectedFormat: "a list of tickets",
          successCriteria: "the tickets are listed",
          errorPlan: ["a network error: try again"],
          context: { tools: ["tickets_search"], params: { text: "the printer" }, notes: ["for kim"] },
        },
      });
      expect(openedIn(entries).pin.limits.maxIterations).toBe(3);
    });
  });

  it("asks a person about its call of high risk, and not about the whole run", async () => {
    await withTeam(alone, async (running) => {
      const session = await running.begin("close T-1");
      const isAsked = (all: readonly Entry[]): boolean => all.some(({ kind }) => kind === "approval.requested");
      const asked = (await running.entriesOnce(session, isAsked)).find((entry) => entry.kind === "approval.requested");
      expect(asked?.approval).toMatchObject({ tool: "tickets_close", args: { id: "T-1" }, risk: "high" });
      await running.service.answer(asked?.approval.id ?? "", ApprovalAnswer.parse({ approved: true }));
      expect(await session.response).toMatchObject({ status: "completed", summary: "The ticket is closed." });
    });
  });

  it("fails with the error of its handler, in the shape of its domain", async () => {
    await withTeam(alone, async (running) => {
      const response = await running.ask("close");
      expect(response).toMatchObject({ status: "failed", toolsUsed: [] });
      expect(response.domainResponse).toMatchObject({
        success: false,
        error: { type: "params", message: "say which ticket", tool: "tickets_close", recoverable: false },
      });
    });
  });
});

describe("a request that no handler understands", () => {
  it.each([
    ["because no pattern fits", "what is a ticket?", tickets, "no pattern of this domain fits the request"],
    [
      "because the handler fails",
      "break it",
      tickets,
      "the handler tickets could not read the request: the pattern file is broken",
    ],
    [
      "because the host has another one",
      "find it",
      { ...tickets, name: "mail" },
      'this host has no handler "tickets" (it has: mail): start every host with the same handlers',
    ],
  ])("is worked on by the model, %s", async (_, task, handler, note) => {
    const answering: TeamOptions["answer"] = ({ origin }) =>
      origin.step === 1
        ? { calls: [call("tickets_search", { text: "it" })] }
        : "## Summary\nFound.\n\n## Confidence\n0.5";
    await withTeam({ ...alone, handlers: [handler], answer: answering }, async (running) => {
      const session = await running.begin(task);
      const response = await session.response;
      expect(response).toMatchObject({
        status: "completed",
        domainResponse: { success: true, confidence: 0.5, result: { data: { tickets: [{ id: "T-1", title: "it" }] } } },
      });
      const assessed = (await running.entries(session)).find((entry) => entry.kind === "intent.assessed");
      expect(assessed).toMatchObject({ intent: { context: { notes: [note] } } });
      expect(responseIn(await running.entries(session)).metrics.iterations).toBe(2);
    });
  });
});
