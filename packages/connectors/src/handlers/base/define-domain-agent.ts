import type {
  AgentDefinition,
  HandledAnswer,
  HandledIntent,
  HandledRequest,
  HandlerState,
  HandlerStep,
  RequestHandler,
  Risk,
} from "@troupe/core";
import { RunFailure, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { type IntentMatch, matchPatterns } from "../../intents/match-intent.ts";
import { type CompiledFile, compilePatterns, type PatternFile, readPatternFile } from "../../intents/pattern-file.ts";
import { type IntentReading, readParams } from "../../intents/read-intent.ts";
import type { PeopleOptions } from "../../phrases/read-people.ts";
import type { Connector } from "../../ports/connection.ts";
import { errorOf, errorPlan } from "./call-failure.ts";
import { checkReadiness } from "./readiness.ts";
import {
  calls,
  type JsonObject,
  nextTurn,
  type PlannedTurn,
  type RequestWork,
  type WorkAnswer,
  type WorkScope,
  withJsonOutput,
} from "./request-work.ts";

/** The way of a domain agent through the requests of one pattern. */
export interface RequestPlan {
  /** The pattern, for a domain without a file of patterns. `tools` are in the order of their calls. */
  pattern?: Omit<PatternFile["patterns"][number], "name">;
  /** Contents of the answer, as a sentence. */
  expectedFormat: string;
  /** The success criteria: a sentence for each field that the outputs of the tools must have. */
  criteria: Readonly<Record<string, string>>;
  /** Completes the parameters before any tool runs. Throws a `RunFailure` for a request that cannot be carried out. */
  prepare?(reading: IntentReading, scope: PrepareScope): Promise<PreparedRequest> | PreparedRequest;
  /** The calls and the answer. It must depend on its scope and on results alone. */
  work(scope: WorkScope): RequestWork;
}

/** A request that is ready for its calls. Absent fields stay as they were read. */
export interface PreparedRequest {
  params: JsonObject;
  tools?: readonly string[];
  risk?: Risk;
  /** More sentences about everything that the request leaves open. */
  assumptions?: readonly string[];
  notes?: readonly string[];
}

/** The request that is prepared, and its place. */
export interface PrepareScope {
  request: HandledRequest;
  /** The words of the parameters. */
  words: IntentMatch["words"];
  timeZone: string;
}

/** Options of `defineDomainAgent`. */
export interface DomainAgentOptions {
  /** The domain, such as `tickets`: a word. It is the id of the agent too. */
  domain: string;
  /** The name of the handler. @default the domain */
  handler?: string;
  /** When to delegate to the agent. A delegating model reads it. */
  description: string;
  /** Instructions of the model, which works on requests that no pattern fits. @default a text from the description */
  prompt?: string;
  /** The tools of the domain. Arguments of calls are checked against their schemas. */
  tools?: readonly Tool[];
  /** By the names of their patterns. */
  requests: Readonly<Record<string, RequestPlan>>;
  /** A file of patterns (YAML). @default the plans have their patterns */
  patterns?: URL;
  /** Fragments, and requests that no pattern may match, for patterns of the plans. */
  language?: Pick<PatternFile, "words" | "except" | "times">;
  /** The connection of the domain, which is checked before the first call. @default none is checked */
  connector?: (request: HandledRequest) => Promise<Connector>;
  /** For parameters of the kind `people`. */
  people?: (request: HandledRequest) => Promise<PeopleOptions>;
  /** The zone of times in words. @default the zone of this machine */
  timeZone?: (request: HandledRequest) => Promise<string>;
}

/** The parts of a domain agent: pass the handler and the tools to the host, and the agent to the team. */
export interface DomainAgent {
  handler: RequestHandler;
  tools: readonly Tool[];
  agent: Omit<z.input<typeof AgentDefinition>, "name" | "source">;
}

/** Turns with calls of a domain agent. */
const iterationsMax = 3;

/**
 * Defines the agent of a domain, which works without a model: patterns read a request, a plan makes the calls, and the answer
 * has one shape. Throws if a pattern has no plan.
 *
 * @example
 * const weather = defineDomainAgent({
 *   domain: "weather",
 *   description: "Tells the weather",
 *   requests: {
 *     now: {
 *       pattern: { pattern: "weather in (?<place>.+)", tools: ["weather_now"], risk: "low", params: { place: "line" } },
 *       expectedFormat: "The weather of one place.",
 *       criteria: { degrees: "The temperature is known." },
 *       *work({ params, call }) {
 *         const { degrees } = yield* call("weather_now", { place: params.place });
 *         return `It has ${degrees} degrees in ${params.place}.`;
 *       },
 *     },
 *   },
 * });
 */
export function defineDomainAgent(options: DomainAgentOptions): DomainAgent {
  const { domain, handler: name = domain, description, tools = [] } = options;
  const file = fileOf(options);
  checkPlans(file, options);
  const base: Base = { options, file, validate: validatorOf(tools) };
  const toolNames = [...new Set(file.patterns.flatMap((pattern) => pattern.tools))];
  const prompt = options.prompt ?? `You are the ${domain} agent. ${description}. Use your tools, and answer once.`;
  return {
    handler: {
      name,
      assess: (request) => assessIntent(request, base),
      next: (state) => nextStep(state, base),
    },
    tools,
    agent: {
      ...{ id: domain, description, prompt, domain, intent: "patterns", handler: name },
      tools: tools.length > 0 ? tools.map(({ spec }) => spec.name) : toolNames,
      limits: { maxIterations: iterationsMax },
    },
  };
}

interface Base {
  options: DomainAgentOptions;
  file: CompiledFile;
  validate(turn: Pick<PlannedTurn, "calls">): void;
}

function fileOf({ domain, patterns, requests, language }: DomainAgentOptions): CompiledFile {
  if (patterns) return readPatternFile(patterns);
  const inline = Object.entries(requests).flatMap(([name, { pattern }]) => (pattern ? [{ name, ...pattern }] : []));
  return compilePatterns({ domain, patterns: inline, ...language });
}

function checkPlans({ patterns }: CompiledFile, { domain, requests, people }: DomainAgentOptions): void {
  for (const { name, params } of patterns) {
    if (!requests[name]) throw new Error(`${domain}: the pattern ${name} has no plan; add ${name} to requests`);
    if (!people && Object.values(params).includes("people")) {
      throw new Error(`${domain}: the pattern ${name} names people; pass people, or use the kind line`);
    }
  }
}

/** A turn whose arguments do not fit the schemas of their tools is a failure of the type `params`. */
function validatorOf(tools: readonly Tool[]): Base["validate"] {
  const schemas = new Map(tools.map(({ spec }) => [spec.name, spec.inputSchema]));
  return ({ calls: planned }) => {
    for (const { tool, args } of planned) {
      const schema = schemas.get(tool);
      const issue = schema && z.fromJSONSchema(schema).safeParse(args).error?.issues[0];
      if (!issue) continue;
      const message = `${issue.path.join(".") || "the arguments"}: ${issue.message}`;
      throw new RunFailure({ type: "params", message, tool, recoverable: false });
    }
  };
}

/** The intent of a request before any tool runs: its calls, and whether they can be made. */
async function assessIntent(request: HandledRequest, base: Base): Promise<HandledIntent | null> {
  const match = matchPatterns(base.file, request.task);
  if (!match) return null;
  const plan = planOf(match.pattern, base);
  const understood = await understand(request, match, base);
  const { tools, risk, params, notes } = understood;
  const needs = { tools, changes: risk !== "low" };
  const { connector } = base.options;
  const connect = connector ? () => connector(request) : null;
  const readiness = await checkReadiness(needs, { granted: request.tools, connect });
  const problem = understood.problem ?? readiness.problem;
  return {
    ...{ tools, risk, errorPlan, expectedFormat: plan.expectedFormat },
    params: { pattern: match.pattern, ...params },
    successCriteria: Object.values(plan.criteria).join(" "),
    notes: [...notes, ...readiness.notes],
    ...(problem ? { problem } : {}),
  };
}

interface UnderstoodRequest extends Pick<HandledIntent, "tools" | "risk" | "params" | "notes" | "problem"> {}

/** Reads and completes the parameters, and checks the arguments of the first calls. */
async function understand(request: HandledRequest, match: IntentMatch, base: Base): Promise<UnderstoodRequest> {
  const { words, tools, risk } = match;
  const plan = planOf(match.pattern, base);
  try {
    const timeZone = await timeZoneOf(request, base);
    const { people: peopleOf } = base.options;
    const people = peopleOf ? () => peopleOf(request) : null;
    const reading = await readParams(match, base.file, request.task, { nowMs: request.nowMs, timeZone, people });
    const prepared = (await plan.prepare?.(reading, { request, words, timeZone })) ?? { params: reading.params };
    const first = nextTurn(plan.work({ ...calls, request, timeZone, params: prepared.params }), [], iterationsMax);
    if (first.kind === "calls") base.validate(first);
    const assumptions = [...reading.assumptions, ...(prepared.assumptions ?? [])];
    return {
      params: prepared.params,
      tools: prepared.tools ?? tools,
      risk: prepared.risk ?? risk,
      notes: [...assumptions.map((each) => `${assumptionMark}${each}`), ...(prepared.notes ?? [])],
    };
  } catch (thrown) {
    return { params: {}, tools, risk, notes: [], problem: errorOf(thrown, tools[0] ?? null) };
  }
}

/** Assumptions are notes of the intent. The answer states them. */
const assumptionMark = "Assumption: ";

function planOf(pattern: string, { options }: Base): RequestPlan {
  const plan = options.requests[pattern];
  if (plan) return plan;
  throw new RunFailure({
    type: "tool_error",
    message: `the handler of ${options.domain} has no plan for ${JSON.stringify(pattern)}; start the request again`,
    recoverable: false,
  });
}

async function timeZoneOf(request: HandledRequest, { options }: Base): Promise<string> {
  return (await options.timeZone?.(request)) ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The next calls of a request, its answer, or its failure. */
async function nextStep(given: HandlerState, base: Base): Promise<HandlerStep> {
  const state = { ...given, results: given.results.map(withJsonOutput) };
  const { context } = state.intent;
  try {
    const { pattern, ...params } = context.params;
    const plan = planOf(String(pattern), base);
    const timeZone = await timeZoneOf(state.request, base);
    const work = plan.work({ ...calls, request: state.request, timeZone, params });
    const turn = nextTurn(work, state.results, state.turnsLeft);
    if (turn.kind === "end") return { kind: "answer", answer: formatAnswer(turn.answer, state, plan) };
    base.validate(turn);
    return { ...turn, note: noteOf(turn, state, plan) };
  } catch (thrown) {
    return { kind: "failure", error: errorOf(thrown, lastTool(state)) };
  }
}

function lastTool({ results, intent }: HandlerState): string | null {
  return results.at(-1)?.tool ?? intent.context.tools[0] ?? null;
}

/** The progress check of a turn: the criteria that the results do not meet yet. */
function openCriteria({ results }: HandlerState, { criteria }: RequestPlan): string[] {
  const outputs = results.flatMap(({ ok, output }) => (ok && typeof output === "object" ? [output] : []));
  const reached = new Set(outputs.flatMap((output) => Object.keys(output ?? {})));
  return Object.entries(criteria).flatMap(([field, sentence]) => (reached.has(field) ? [] : [sentence]));
}

function noteOf({ note }: PlannedTurn, state: HandlerState, plan: RequestPlan): string {
  const total = Object.keys(plan.criteria).length;
  if (state.results.length === 0 || total === 0) return note;
  const met = total - openCriteria(state, plan).length;
  return `${note} So far ${met} of ${total} success criteria are met.`;
}

/** Every answer has the assumptions of the request, the criteria that were not met, and a confidence by both. */
function formatAnswer(answer: WorkAnswer, state: HandlerState, plan: RequestPlan): HandledAnswer {
  const { summary, details = "", ...lists } = typeof answer === "string" ? { summary: answer } : answer;
  const read = state.intent.context.notes.flatMap((note) =>
    note.startsWith(assumptionMark) ? [note.slice(assumptionMark.length)] : [],
  );
  const assumptions = [...read, ...(lists.assumptions ?? [])];
  const open = openCriteria(state, plan).map((sentence) => `Not reached: ${sentence}`);
  const missing = [...(lists.missing ?? []), ...open];
  return { summary, details, assumptions, missing, confidence: confidenceOf(assumptions, missing) };
}

/** Every assumption can be wrong, and an answer without some of its data is worth less. */
export function confidenceOf(assumptions: readonly string[], missing: readonly string[]): number {
  const confidence = 1 - 0.05 * assumptions.length - 0.25 * missing.length;
  return Math.max(0.1, Math.round(confidence * 100) / 100);
}
