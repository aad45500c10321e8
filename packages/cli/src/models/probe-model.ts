import { type ModelProvider, type ModelReply, type ModelRequest, type RunError, ToolSpec } from "@troupe/core";
import { type RunErrorType, toRunError } from "@troupe/core/internal";
import type { ModelWarning } from "@troupe/models";

/** One thing that an agent needs of its model, and whether it is there. */
export interface Finding {
  name: "answer" | "streaming" | "usage" | "tools" | "context";
  status: "ok" | "failed" | "skipped";
  detail: string;
  fix: string | null;
  /** Of a call that failed. */
  type: RunErrorType | null;
}

export interface ProbeOptions {
  provider: ModelProvider;
  /** `provider/model`. */
  model: string;
  /** What stands in the way of an agent, as the server itself tells; null for a vendor's own, whose windows are as told. */
  serverWarnings: (() => Promise<ModelWarning[]>) | null;
  /** How long one answer may take. */
  timeoutMs: number;
  signal: AbortSignal;
  monotonicMs(): number;
}

/** What the shortest answers need: some vendors take no lower cap. */
const shortTokens = 16;

/** Longer than the window that local servers run models with unless they are told otherwise. */
const longWords = 5_000;

/**
 * Asks a model live: for a word, for a tool call, and, where a server may cut conversations off, with a long one. Each
 * finding comes as soon as it is there.
 */
export async function* probeModel(options: ProbeOptions): AsyncGenerator<Finding> {
  const first = await ask(options, { text: "Say the word: ready", maxOutputTokens: shortTokens });
  if ("error" in first) {
    yield failed("answer", first.error);
    for (const name of ["streaming", "usage", "tools", "context"] as const) yield skipped(name, "nothing answered");
    return;
  }
  yield ok("answer", `${JSON.stringify(first.reply.text.slice(0, 60))} in ${(first.tookMs / 1_000).toFixed(1)} s`);
  yield streamingOf(first);
  yield usageOf(first.reply);
  yield await toolsOf(options);
  yield await contextOf(options);
}

const probeTool = ToolSpec.parse({
  name: "probe",
  description: "Takes the word that you were given.",
  risk: "low",
  effect: "read",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
});

async function toolsOf(options: ProbeOptions): Promise<Finding> {
  const text = 'Call the tool "probe" with the word "ready". Do not answer in words.';
  const reply = await ask(options, { text, tools: [probeTool], maxOutputTokens: 1_024 });
  const fix = "choose a model that can call tools: an agent does its work by them (troupe models ls)";
  if ("error" in reply) return { ...failed("tools", reply.error), fix };
  const [call] = reply.reply.calls;
  if (!call) return { ...bad("tools", "it answered in words and called no tool"), fix };
  if (call.problem !== null) return { ...bad("tools", `it called ${call.name} wrongly: ${call.problem}`), fix };
  return ok("tools", `it called ${call.name} with ${JSON.stringify(call.args).slice(0, 60)}`);
}

/** A server of one's own runs models with windows of its owner's choice, and may cut off the rest without a word. */
async function contextOf(options: ProbeOptions): Promise<Finding> {
  if (!options.serverWarnings) return skipped("context", "the vendor's own: its windows are as told");
  const [trap] = await options.serverWarnings();
  if (trap) return { ...bad("context", trap.message), fix: trap.fix };
  const text = `${"word ".repeat(longWords)}\nSay the word: ready`;
  const reply = await ask(options, { text, maxOutputTokens: shortTokens });
  if ("error" in reply) return failed("context", reply.error);
  const { inputTokens } = reply.reply.usage;
  if (inputTokens >= longWords) return ok("context", `a conversation of ${inputTokens} tokens was read whole`);
  return {
    ...bad("context", `of some ${longWords} tokens it read ${inputTokens}: the rest was cut off without a word`),
    fix: "give the model a longer window: OLLAMA_CONTEXT_LENGTH=32768 ollama serve",
  };
}

interface Question {
  text: string;
  tools?: readonly ToolSpec[];
  maxOutputTokens: number;
}

type ProbeReply = { reply: ModelReply; tookMs: number; deltas: number; activities: number } | { error: RunError };

async function ask(options: ProbeOptions, { text, tools = [], maxOutputTokens }: Question): Promise<ProbeReply> {
  const { provider, model, timeoutMs, monotonicMs } = options;
  const tooLong = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([options.signal, tooLong]);
  const startedMs = monotonicMs();
  let deltas = 0;
  let activities = 0;
  const request: ModelRequest = {
    model,
    system: "You are being tested. Do exactly what is asked.",
    messages: [{ role: "user", text }],
    tools,
    maxOutputTokens,
    temperature: null,
    origin: { session: "probe", run: "probe", agent: "main", task: text, attempt: 1, step: 1 },
  };
  try {
    const reply = await provider.call(request, {
      signal,
      onDelta: () => {
        deltas += 1;
      },
      onActivity: () => {
        activities += 1;
      },
    });
    return { reply, tookMs: monotonicMs() - startedMs, deltas, activities };
  } catch (thrown) {
    const error = toRunError(thrown, "model");
    if (!tooLong.aborted) return { error };
    return { error: { ...error, type: "timeout", message: `no whole answer came within ${timeoutMs} ms` } };
  }
}

function streamingOf({ reply, deltas, activities }: Exclude<ProbeReply, { error: RunError }>): Finding {
  if (deltas > 0) return ok("streaming", `its words came in ${deltas} ${deltas === 1 ? "piece" : "pieces"}`);
  if (reply.text === "" && activities > 0) return ok("streaming", "signs of life came before the end");
  return { ...bad("streaming", "its answer came all at once"), fix: "let nothing between here and the server buffer" };
}

function usageOf({ usage }: ModelReply): Finding {
  const { inputTokens, outputTokens, costUsd } = usage;
  if (inputTokens > 0) {
    const cost = costUsd === null ? "its price is not known: a cost cap refuses it" : `$${costUsd.toFixed(6)}`;
    return ok("usage", `${inputTokens} tokens in, ${outputTokens} out; ${cost}`);
  }
  return {
    ...bad("usage", "it does not say how many tokens it used"),
    fix: "have the server send usage with its stream",
  };
}

const ok = (name: Finding["name"], detail: string): Finding => ({ name, status: "ok", detail, fix: null, type: null });
const bad = (name: Finding["name"], detail: string): Finding => ({ ...ok(name, detail), status: "failed" });
const skipped = (name: Finding["name"], detail: string): Finding => ({ ...ok(name, detail), status: "skipped" });
const failed = (name: Finding["name"], error: RunError): Finding => ({ ...bad(name, error.message), type: error.type });
