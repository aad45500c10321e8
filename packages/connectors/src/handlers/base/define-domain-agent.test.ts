/** The base of a domain agent, with a small domain. */
import type { HandledIntent, HandlerState } from "@troupe/core";
import { defineTool } from "@troupe/core/tool";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { confidenceOf, type DomainAgentOptions, defineDomainAgent } from "./define-domain-agent.ts";

const lookUp = defineTool({
  name: "books_find",
  description: "Finds a book",
  input: z.strictObject({ title: z.string().min(3) }),
  risk: "low",
  effect: "read",
  run: async ({ title }) => ({ output: JSON.stringify({ book: title, shelf: "B2" }) }),
});

const options: DomainAgentOptions = {
  domain: "books",
  description: "Finds books",
  tools: [lookUp],
  requests: {
    find: {
      pattern: {
        pattern: "^find (?:the )?book (?<title>.+)$",
        tools: ["books_find"],
        risk: "low",
        params: { title: "line" },
        requires: ["title"],
      },
      expectedFormat: "The shelf of one book.",
      criteria: { book: "The book is found.", shelf: "Its shelf is known." },
      prepare: (reading) => ({ params: reading.params, assumptions: ["the library of the main house is meant"] }),
      *work({ params, call }) {
        const { shelf } = yield* call("books_find", { title: params.title }, "Looks for the book.");
        return { summary: `It stands on shelf ${shelf}.` };
      },
    },
  },
};
const books = defineDomainAgent(options);

const request = (task: string, tools = ["books_find"]) => {
  return { task, userId: null, session: "s", run: "r", nowMs: 0, tools, agents: [] };
};
const assessed = async (task: string): Promise<HandledIntent> => {
  const intent = await books.handler.assess(request(task));
  if (!intent) throw new Error("no pattern fits");
  return intent;
};
const stateOf = async (task: string, results: HandlerState["results"], turnsLeft = 3): Promise<HandlerState> => {
  const { tools, params, notes, ...rest } = await assessed(task);
  const context = {
    request: task,
    tools: [...tools],
    params,
    notes: [...notes],
    status: "executing" as const,
    result: null,
  };
  return { request: request(task), intent: { context, ...rest, errorPlan: [...rest.errorPlan] }, results, turnsLeft };
};
const found = (output: HandlerState["results"][number]["output"]) => {
  return { tool: "books_find", args: {}, ok: true, output, text: JSON.stringify(output) };
};

describe("the intent", () => {
  it("has format, criteria, risk, tools, parameters, notes and the error plan before any tool runs", async () => {
    expect(await assessed("find the book Emma")).toEqual({
      tools: ["books_find"],
      params: { pattern: "find", title: "Emma" },
      risk: "low",
      expectedFormat: "The shelf of one book.",
      successCriteria: "The book is found. Its shelf is known.",
      errorPlan: expect.arrayContaining([expect.stringMatching(/^auth: /), expect.stringMatching(/^params: /)]),
      notes: ["Assumption: the library of the main house is meant", "The agent may call books_find."],
    });
  });

  it("is null for a request without a pattern", async () => {
    expect(await books.handler.assess(request("sell the book"))).toBeNull();
  });

  it("has a problem if the arguments do not fit the schema of the tool", async () => {
    const { problem } = await assessed("find book Q");
    expect(problem).toMatchObject({ type: "params", tool: "books_find", message: expect.stringContaining("title") });
  });

  it("has a problem if the agent may not call the tool", async () => {
    const intent = await books.handler.assess(request("find book Emma", []));
    expect(intent?.problem).toMatchObject({ type: "permission", tool: "books_find" });
  });
});

describe("the work", () => {
  it("begins with the call of the plan", async () => {
    const step = await books.handler.next(await stateOf("find book Emma", []));
    expect(step).toEqual({
      kind: "calls",
      calls: [{ tool: "books_find", args: { title: "Emma" } }],
      note: "Looks for the book.",
    });
  });

  it("answers when the criteria are met, with the assumptions of the request", async () => {
    const step = await books.handler.next(await stateOf("find book Emma", [found({ book: "Emma", shelf: "B2" })]));
    expect(step).toEqual({
      kind: "answer",
      answer: {
        summary: "It stands on shelf B2.",
        details: "",
        assumptions: ["the library of the main house is meant"],
        missing: [],
        confidence: 0.95,
      },
    });
  });

  it("names a criterion that the results do not meet, and is less sure", async () => {
    const step = await books.handler.next(await stateOf("find book Emma", [found({ book: "Emma" })]));
    expect(step).toMatchObject({ answer: { missing: ["Not reached: Its shelf is known."], confidence: 0.7 } });
  });

  it("fails after a failed call, with its type and tool", async () => {
    const output = { error: { type: "network", message: "no route", fix: "check the cable" } };
    const failed = { ...found(output), ok: false };
    expect(await books.handler.next(await stateOf("find book Emma", [failed]))).toEqual({
      kind: "failure",
      error: {
        type: "network",
        message: "no route; check the cable",
        tool: "books_find",
        recoverable: true,
        retryAfterMs: null,
      },
    });
  });

  it("reads an output behind which the host names changed files", async () => {
    const noted = found('{"book":"Emma","shelf":"C3"}\n\nchanged files: a.db');
    expect(await books.handler.next(await stateOf("find book Emma", [noted]))).toMatchObject({
      answer: { summary: "It stands on shelf C3.", missing: [] },
    });
  });

  it("fails with the text of a refused call", async () => {
    const refused = {
      ...found("permission: a person has denied the call"),
      ok: false,
      text: "permission: a person has denied the call",
    };
    expect(await books.handler.next(await stateOf("find book Emma", [refused]))).toMatchObject({
      error: { type: "permission", message: "a person has denied the call", recoverable: false },
    });
  });
});

describe("the definition", () => {
  it("is an agent of one domain with three iterations and the tools of the domain alone", () => {
    expect(books.agent).toEqual({
      id: "books",
      description: "Finds books",
      prompt: "You are the books agent. Finds books. Use your tools, and answer once.",
      domain: "books",
      intent: "patterns",
      handler: "books",
      tools: ["books_find"],
      limits: { maxIterations: 3 },
    });
    expect(books.tools).toEqual([lookUp]);
  });

  it("is refused for people without contacts", () => {
    const { find } = options.requests;
    if (!find?.pattern) throw new Error("no pattern");
    const requests = { find: { ...find, pattern: { ...find.pattern, params: { title: "people" as const } } } };
    expect(() => defineDomainAgent({ ...options, requests })).toThrow("pass people");
  });

  it("is refused if a pattern of the file has no plan", () => {
    const patterns = new URL("../../../patterns/contacts.yaml", import.meta.url);
    const people = () => Promise.reject(new Error("not asked"));
    expect(() => defineDomainAgent({ ...options, patterns, people })).toThrow("has no plan; add");
  });
});

it.each([
  [[], [], 1],
  [["a"], [], 0.95],
  [["a", "b"], ["c"], 0.65],
  [[], ["a", "b", "c", "d", "e"], 0.1],
])("an answer with %j and %j missing has its confidence", (assumptions, missing, confidence) => {
  expect(confidenceOf(assumptions, missing)).toBe(confidence);
});
