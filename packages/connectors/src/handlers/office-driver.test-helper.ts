import type {
  DomainResponse,
  HandledAnswer,
  HandledIntent,
  HandledResult,
  HandlerState,
  RequestHandler,
  RunError,
} from "@troupe/core";
import { RunFailure } from "@troupe/core/tool";
import type { Connectors } from "../ports/connectors.ts";
import { nowMs, openSample, run } from "../tools/office-tools.test-helper.ts";
import { createOfficeHandlers } from "./create-office-handlers.ts";
import type { OfficeHandlerOptions } from "./domains/office-scope.ts";

/** Plays the engine with the real tools of the sample office: Wednesday, 4 March 2026, 13:00 in Berlin. */

/** The way of a request. */
export interface Driven {
  intent: HandledIntent;
  /** Tools in the order of their calls, one list for each turn. */
  turns: string[][];
  /** Purposes of the turns. */
  notes: string[];
  results: HandledResult[];
  answer: HandledAnswer | null;
  error: RunError | null;
}

export interface DriverOptions extends Partial<Omit<OfficeHandlerOptions, "connectors">> {
  /** Wraps the connectors of handlers and tools. */
  wrap?: (connectors: Connectors) => Connectors;
}

const agents = ["office_email", "office_calendar", "office_contacts", "office_slack"];
const handlerOf = { email: "gmail", calendar: "calendar", contacts: "contacts", slack: "slack" } as const;

export async function openDriver({ wrap = (connectors) => connectors, ...options }: DriverOptions = {}) {
  const sample = await openSample({ wrap });
  const connectors = wrap(sample.office);
  const handlers = createOfficeHandlers({ connectors, tools: sample.tools, ...options });
  const toolNames = [...sample.tools.map(({ spec }) => spec.name), "delegate"];
  const requestOf = (task: string) => ({
    ...{ task, userId: null, session: run, run, nowMs, tools: toolNames, agents },
  });

  async function call(tool: string, args: Record<string, unknown>): Promise<HandledResult> {
    const json = args as HandledResult["args"];
    if (tool === "delegate") {
      const response = await respond(String(args.agent), String(args.task));
      return {
        tool,
        args: json,
        ok: response.success,
        output: { ...response },
        text: JSON.stringify(response),
      } as HandledResult;
    }
    const { output, error } = await sample.call(tool, args);
    return { tool, args: json, ok: error === undefined, output, text: JSON.stringify(output) };
  }

  /** The response of a domain agent, as the engine makes it. */
  async function respond(agent: string, task: string): Promise<DomainResponse> {
    const domain = agent.replace("office_", "") as keyof typeof handlerOf;
    const { answer, error, results } = await drive(handlerOf[domain], task);
    const data = Object.assign({}, ...results.flatMap(({ ok, output }) => (ok ? [output] : [])));
    const result = { data, tools_used: [...new Set(results.map(({ tool }) => tool))], execution_time: 0 };
    const shared = { domain, request: task };
    if (answer) {
      const { summary, details: _, assumptions, missing, confidence } = answer;
      return {
        ...shared,
        success: true,
        result: { ...result, summary },
        ...JSON.parse(JSON.stringify({ assumptions, missing, confidence })),
      };
    }
    const failure = { type: "tool_error" as const, message: "", tool: "", recoverable: false, ...error };
    return {
      ...{ ...shared, success: false, confidence: null, assumptions: [], missing: [] },
      result: { ...result, summary: failure.message },
      error: { ...failure, type: failure.type as "params", tool: failure.tool ?? "" },
    };
  }

  /** Takes a request from its intent to its answer. Null if no pattern fits. */
  async function driveOrNull(
    name: string,
    task: string,
    turnsMax = name === "office" ? 10 : 3,
  ): Promise<Driven | null> {
    const handler = handlers.find((each) => each.name === name) as RequestHandler;
    const intent = await handler.assess(requestOf(task));
    if (intent === null) return null;
    const driven: Driven = { intent, turns: [], notes: [], results: [], answer: null, error: intent.problem ?? null };
    return intent.problem ? driven : await takeTurns(handler, { task, turnsMax, driven });
  }

  async function takeTurns(
    handler: RequestHandler,
    { task, turnsMax, driven }: { task: string; turnsMax: number; driven: Driven },
  ): Promise<Driven> {
    const state = stateOf(task, driven.intent);
    for (;;) {
      const turnsLeft = turnsMax - driven.turns.length;
      const step = await handler.next({ ...state, results: driven.results, turnsLeft });
      if (step.kind === "answer") return { ...driven, answer: step.answer };
      if (step.kind === "failure") return { ...driven, error: step.error };
      if (turnsLeft <= 0) throw new RunFailure({ type: "tool_error", message: "too many turns", recoverable: false });
      driven.turns.push(step.calls.map(({ tool }) => tool));
      driven.notes.push(step.note);
      for (const { tool, args } of step.calls) driven.results.push(await call(tool, args));
    }
  }

  /** The journal holds the intent as JSON. */
  function stateOf(task: string, given: HandledIntent): Pick<HandlerState, "request" | "intent"> {
    const { tools, params, notes, ...rest } = JSON.parse(JSON.stringify(given)) as HandledIntent;
    const context = {
      request: task,
      tools: [...tools],
      params,
      notes: [...notes],
      status: "executing" as const,
      result: null,
    };
    return { request: requestOf(task), intent: { context, ...rest, errorPlan: [...rest.errorPlan] } };
  }

  async function drive(name: string, task: string, turnsMax?: number): Promise<Driven> {
    const driven = await driveOrNull(name, task, turnsMax);
    if (!driven) throw new Error(`no pattern of ${name} fits: ${task}`);
    return driven;
  }

  return { ...sample, handlers, requestOf, stateOf, drive, driveOrNull };
}

export type Driver = Awaited<ReturnType<typeof openDriver>>;
