import type { HandledIntent, HandledRequest, HandledResult, HandlerStep, Json } from "@troupe/core";
import { RunFailure } from "@troupe/core/tool";
import type { z } from "zod";
import { failureOf } from "./call-failure.ts";

export type JsonObject = HandledIntent["params"];

/** The calls of one turn. */
export interface PlannedTurn {
  calls: readonly { tool: string; args: JsonObject }[];
  /** Purpose of the calls, as a short sentence. */
  note: string;
}

/** The end of a work. A text is its summary alone. */
export type WorkAnswer =
  | string
  | {
      /** One or two sentences for a person. */
      summary: string;
      /** Markdown, such as a list. @default none */
      details?: string;
      /** Readings that the work has chosen, beside those of the request. @default [] */
      assumptions?: readonly string[];
      /** Data that was not found, as sentences. @default [] */
      missing?: readonly string[];
    };

/**
 * The work on a request: it yields the calls of its turns, gets their results and returns the answer. It runs again from its
 * start for every turn, with the results so far, so it must depend on its scope and on results alone: no clock, no server.
 * Its error is the failure of the request.
 */
export type RequestWork = Generator<PlannedTurn, WorkAnswer, readonly HandledResult[]>;

/** One call of a work. Its value is the output. */
export type CallWork<Output> = Generator<PlannedTurn, Output, readonly HandledResult[]>;

/** Arguments of a call. Absent values are left out. */
export type CallArgs = Readonly<Record<string, Json | undefined>>;

/** Knowledge of a work. */
export interface WorkScope {
  params: JsonObject;
  request: HandledRequest;
  /** The zone in which times are shown. */
  timeZone: string;
  /** Makes one call in a turn of its own. Throws a `RunFailure` with the tool's error if the call fails. */
  call(tool: string, args: CallArgs, note?: string): CallWork<JsonObject>;
  /** The same, and parses the output. */
  read<Schema extends z.ZodType>(
    schema: Schema,
    tool: string,
    args: CallArgs,
    note?: string,
  ): CallWork<z.output<Schema>>;
  /** Makes several calls in one turn. Failed calls are among the results. */
  callAll(calls: PlannedTurn["calls"], note: string): CallWork<readonly HandledResult[]>;
}

/** The calls of a work. */
export const calls: Pick<WorkScope, "call" | "read" | "callAll"> = {
  *call(tool, args, note = `Calls ${tool}.`) {
    const [result] = yield { calls: [{ tool, args: compact(args) }], note };
    return outputOf(result, tool);
  },
  *read(schema, tool, args, note) {
    const parsed = schema.safeParse(yield* calls.call(tool, args, note));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw brokenOutput(tool, `${issue?.path.join(".")}: ${issue?.message}`);
  },
  *callAll(planned, note) {
    return yield { calls: planned, note };
  },
};

function compact(args: CallArgs): JsonObject {
  return Object.fromEntries(
    Object.entries(args).flatMap(([key, value]): [string, Json][] => (value === undefined ? [] : [[key, value]])),
  );
}

/** A result whose host has added lines to the JSON of the tool, such as names of changed files. */
export function withJsonOutput(result: HandledResult): HandledResult {
  if (typeof result.output !== "string") return result;
  const [line = ""] = result.output.split("\n");
  try {
    return { ...result, output: JSON.parse(line) };
  } catch {
    return result;
  }
}

/** The output of a call that succeeded. */
export function outputOf(result: HandledResult | undefined, tool: string): JsonObject {
  if (!result) throw brokenOutput(tool, "the call has no result");
  if (result.tool !== tool) throw brokenOutput(tool, `the result is one of ${result.tool}`);
  if (!result.ok) throw failureOf(result);
  if (typeof result.output === "object" && result.output !== null && !Array.isArray(result.output)) {
    return result.output;
  }
  throw brokenOutput(tool, "the output is not a JSON object");
}

function brokenOutput(tool: string, reason: string): RunFailure {
  const message = `the result of ${tool} cannot be used (${reason})`;
  return new RunFailure({ type: "tool_error", message, tool, recoverable: false });
}

/**
 * The next turn of a work, after the results so far: runs it from its start and feeds it with them. A work that wants more
 * turns than are left gets a failure at its call, and can answer with its results so far.
 */
export function nextTurn(
  work: RequestWork,
  results: readonly HandledResult[],
  turnsLeft: number,
): Extract<HandlerStep, { kind: "calls" }> | { kind: "end"; answer: WorkAnswer } {
  let used = 0;
  let step = work.next();
  while (!step.done) {
    const { calls: planned, note } = step.value;
    const given = results.slice(used, used + planned.length);
    used += planned.length;
    if (planned.length === 0) step = work.next([]);
    else if (given.length === planned.length) step = work.next(given);
    else if (turnsLeft > 0) return { kind: "calls", calls: planned, note };
    else step = work.throw(outOfTurns(planned[0]?.tool ?? ""));
  }
  return { kind: "end", answer: step.value };
}

function outOfTurns(tool: string): RunFailure {
  const message = `no turn is left for ${tool}; raise the limit of iterations of the agent`;
  return new RunFailure({ type: "tool_error", message, tool, recoverable: false });
}
