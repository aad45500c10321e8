import { type ModelProvider, type ModelReply, type ModelRequest, type RunError, ToolSpec } from "@troupe/core";
import { type RunErrorType, toRunError } from "@troupe/core/internal";
import type { ModelWarning } from "@troupe/models";

/** One requirement of agents, and whether the model meets it. */
export interface Finding {
  name: "answer" | "streaming" | "usage" | "tools" | "context";
  status: "ok" | "failed" | "skipped";
  detail: string;
  fix: string | null;
  /** Error type of a failed call. */
  type: RunErrorType | null;
}

export interface ProbeOptions {
  provider: ModelProvider;
  /** `provider/model`. */
  model: string;
  /** Problems that a local server reports; null for a vendor's server, whose context sizes are documented. */
  serverWarnings: (() => Promise<ModelWarning[]>) | null;
  /** Time limit of one answer. */
  timeoutMs: number;
  signal: AbortSignal;
  monotonicMs(): number;
}

/** Output limit of short answers: some vendors accept no lower limit. */
const shortTokens = 16;

/** Longer than the default context of local servers. */
const longWords = 5_000;

/**
 * Calls a model live: for a word, for a tool call and, on a local server, with a long conversation, which such a server can
 * silently truncate. Yields each finding as soon as it is known.
 */
export async function* probeModel(options: ProbeOptions): AsyncGenerator<Finding> {
  const first = await ask(options, { text: "Say the word: ready", maxOutputTokens: shortTokens });
  if ("error" in first) {
    yield failed("answer", first.error);
    for (const name of ["streaming", "usage", "tools", "context"] as const)
      yield skipped(name, "the model did not answer");
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
  const fix = "choose a model that can call tools (troupe models ls)";
  if ("error" in reply) return { ...failed("tools", reply.error), fix };
  const [call] = reply.reply.calls;
  if (!call) return { ...bad("tools", "it answered with text and called no tool"), fix };
  if (call.name !== probeTool.name) return { ...bad("tools", `it called ${call.name}, which does not exist`), fix };
  if (call.problem !== null) return { ...bad("tools", `its call of ${call.name} is invalid: ${call.problem}`), fix };
  return ok("tools", `it called ${call.name} with ${JSON.stringify(call.args).slice(0, 60)}`);
}

/** A local server can run a model with a small context and silently drop the rest of a conversation. */
async function contextOf(options: ProbeOptions): Promise<Finding> {
  if (!options.serverWarnings) return skipped("context", "a vendor's server: its context sizes are documented");
  const [trap] = await options.serverWarnings();
  if (trap) return { ...bad("context", trap.message), fix: trap.fix };
  const text = `${"word ".repeat(longWords)}\nSay the word: ready`;
  const reply = await ask(options, { text, maxOutputTokens: shortTokens });
  if ("error" in reply) return failed("context", reply.error);
  const { inputTokens } = reply.reply.usage;
  if (inputTokens >= longWords) return ok("context", `it read a conversation of ${inputTokens} tokens completely`);
  return {
    ...bad("context", `it read ${inputTokens} of about ${longWords} tokens and silently dropped the rest`),
    fix: "give the model a larger context: OLLAMA_CONTEXT_LENGTH=32768 ollama serve",
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
    return { error: { ...error, type: "timeout", message: `no complete answer within ${timeoutMs} ms` } };
  }
}

function streamingOf({ reply, deltas, activities }: Exclude<ProbeReply, { error: RunError }>): Finding {
  if (deltas > 0) return ok("streaming", `its answer arrived in ${deltas} ${deltas === 1 ? "part" : "parts"}`);
  if (reply.text === "" && activities > 0) return ok("streaming", "activity arrived before the end");
  return {
    ...bad("streaming", "its answer arrived all at once"),
    fix: "turn off buffering in proxies between here and the server",
  };
}

function usageOf({ usage }: ModelReply): Finding {
  const { inputTokens, outputTokens, costUsd } = usage;
  if (inputTokens > 0) {
    const cost = costUsd === null ? "its price is unknown: a cost limit refuses it" : `$${costUsd.toFixed(6)}`;
    return ok("usage", `${inputTokens} tokens in, ${outputTokens} out; ${cost}`);
  }
  return {
    ...bad("usage", "it does not report the used tokens"),
    fix: "configure the server to send usage with its stream",
  };
}

const ok = (name: Finding["name"], detail: string): Finding => ({ name, status: "ok", detail, fix: null, type: null });
const bad = (name: Finding["name"], detail: string): Finding => ({ ...ok(name, detail), status: "failed" });
const skipped = (name: Finding["name"], detail: string): Finding => ({ ...ok(name, detail), status: "skipped" });
const failed = (name: Finding["name"], error: RunError): Finding => ({ ...bad(name, error.message), type: error.type });
