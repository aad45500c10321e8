import { type RunError, RunFailure } from "@troupe/core";
import { retryAfterMs } from "@troupe/core/internal";
import { APIConnectionError, APIError } from "openai";
import { baseUrlOf, type ProviderSettings } from "../settings.ts";
import { causesOf, failureOf, isConnectFailure, isDecodingFailure, isInvalidUrl, tlsFix } from "../wire/failure.ts";
import { isHeaderValue } from "../wire/http.ts";
import { shownUrl } from "../wire/redaction.ts";
import { UnexpectedResponse } from "./stream.ts";
import { BrokenAnswer, type VendorError, vendorErrorOf } from "./vendor-error.ts";

/** The call that failed. */
export interface FailedCall {
  settings: ProviderSettings;
  /** The model's name, without the provider's id. */
  model: string;
  /** Removes secrets from a server's text. */
  redact(text: string): string;
  /** Current time, for a retry time that is given as a date. */
  nowMs: number;
  /** Whether a successful response had begun. */
  hasResponse: boolean;
  /** Whether text or calls had arrived. */
  hasText: boolean;
}

/** Converts any error of a call to a run failure. */
export function toFailure(thrown: unknown, call: FailedCall): RunFailure {
  if (thrown instanceof RunFailure) return thrown;
  if (thrown instanceof UnexpectedResponse) {
    return refusal(`${urlOf(call)}: ${call.redact(thrown.message)}; ${otherApiFix(call.settings)}`);
  }
  if (thrown instanceof BrokenAnswer) return errorInAnswer(thrown.error, call);
  if (thrown instanceof APIError && thrown.status !== undefined) return httpError(thrown, call);
  return unsendable(call) ?? connectionFailure(thrown, call);
}

/** A request that was never sent, because no header can carry the key or a header's value. */
function unsendable({ settings }: FailedCall): RunFailure | null {
  const { id, key, authToken, headers } = settings;
  if (!isHeaderValue(key ?? authToken ?? "")) {
    const message = `${id}: the key contains a character that cannot be sent, such as a line break; ${keyFix(settings)}`;
    return new RunFailure({ type: "auth", message, recoverable: false, begun: false });
  }
  const name = Object.keys(headers).find((name) => !isHeaderValue(headers[name] ?? ""));
  if (name === undefined) return null;
  return refusal(`${id}: the value of the configured header ${name} contains a character that cannot be sent`);
}

/** An HTTP error status, before any work of the model. */
function httpError(error: APIError, call: FailedCall): RunFailure {
  const status = error.status ?? 0;
  const headers = error.headers ?? new Headers();
  if (status >= 300 && status < 400) return redirected(headers.get("location"), status, call);
  // A body that is not JSON follows the status in the message. Without a body the message is the SDK's own.
  const body = error.error ?? error.message.replace(/^\d+ (status code \(no body\))?/, "");
  return vendorFailure(vendorErrorOf(body, status), call, {
    retryAfterMs: retryAfterMs(headers, call.nowMs),
    begun: false,
  });
}

function redirected(location: string | null, status: number, call: FailedCall): RunFailure {
  const target = location === null ? null : URL.parse(location, baseUrlOf(call.settings));
  const to = target ? ` to ${shownUrl(target.href)}` : "";
  const message = `${urlOf(call)} redirects${to} (HTTP ${status}), which is not followed because the key would be sent there`;
  return refusal(`${message}; set the base URL to the API's real address`);
}

/** A refusal before any output is not charged. Every other error inside an answer may be. */
function errorInAnswer(error: VendorError, call: FailedCall): RunFailure {
  const wasRefused = !call.hasText && error.status !== null && error.status < 500;
  return vendorFailure(error, call, { retryAfterMs: null, begun: !wasRefused });
}

function vendorFailure(
  error: VendorError,
  call: FailedCall,
  { retryAfterMs, begun }: { retryAfterMs: number | null; begun: boolean },
): RunFailure {
  const redacted = call.redact(error.message);
  const fix = knownFix({ ...error, message: redacted }, call.settings, call.model);
  const message = fix ? `${redacted}; ${fix.text}` : redacted;
  if (fix?.isFinal) return refusal(`${call.settings.id}: ${message}`, begun);
  return failureOf({
    provider: call.settings.id,
    status: error.status,
    code: error.code === null ? null : call.redact(error.code),
    message,
    retryAfterMs,
    begun,
    keyFix: keyFix(call.settings),
  });
}

/** A failure that a retry cannot solve. */
function refusal(message: string, begun = false): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false, begun });
}

/** No connection, or a broken one. */
function connectionFailure(thrown: unknown, call: FailedCall): RunFailure {
  const code = systemCodeOf(thrown);
  const url = urlOf(call);
  if (isDecodingFailure(thrown) && !call.hasText) {
    return refusal(
      `${url}: it answered with bytes that cannot be decompressed (${code}); ${otherApiFix(call.settings)}`,
      true,
    );
  }
  if (!call.hasResponse && isInvalidUrl(thrown)) return refusal(`cannot send a request to ${url}; check the base URL`);
  const begun = call.hasResponse || !isConnectFailure(thrown);
  const reason = code ?? (thrown instanceof SyntaxError ? "it sent an event that is not JSON" : "unknown reason");
  const what = call.hasResponse ? `the answer of ${url} broke off (${reason})` : `no connection to ${url} (${reason})`;
  const fix = tlsFix(thrown) ?? (call.settings.isLocal && !begun ? "is the server running?" : null);
  return new RunFailure({
    type: "network",
    message: `${call.settings.id}: ${what}${fix === null ? "" : `; ${fix}`}`,
    recoverable: true,
    begun,
  } satisfies Omit<RunError, "tool" | "retryAfterMs">);
}

/** The operating system's error code, from anywhere in the chain of causes. */
function systemCodeOf(thrown: unknown): string | null {
  const cause = causesOf(thrown).find(
    (error) => typeof error.code === "string" && !(error instanceof APIConnectionError),
  );
  return cause?.code ?? null;
}

function urlOf({ settings }: FailedCall): string {
  return shownUrl(baseUrlOf(settings));
}

/** The fix of a known failure. */
interface KnownFix {
  text: string;
  /** Whether a retry is useless until the user acts, whatever the HTTP status. */
  isFinal: boolean;
}

const knownFailures: readonly {
  pattern: RegExp;
  isFinal: boolean;
  fix(settings: ProviderSettings, model: string): string;
}[] = [
  {
    pattern: /does not support tools|tool use is not supported|no endpoints found that support tool/i,
    isFinal: true,
    fix: ({ id }, model) =>
      `agents need a model that can call tools: choose another model than ${model}${id === "ollama" ? " (`ollama show NAME` lists the capability `tools`)" : ""}`,
  },
  {
    pattern: /enable-auto-tool-choice|tool-call-parser/i,
    isFinal: true,
    fix: () => "start vLLM with `--enable-auto-tool-choice --tool-call-parser NAME`, with the parser for this model",
  },
  {
    pattern: /requires more system memory|not enough (memory|vram)/i,
    isFinal: true,
    fix: (_, model) => `${model} does not fit into the memory of this machine: choose a smaller model`,
  },
  {
    pattern:
      /context_length_exceeded|maximum context length|context (window|length|size) (is|was )?exceed|exceeds the available context/i,
    isFinal: true,
    fix: () =>
      "the conversation is longer than the model's context window: start a new one, pass less, or choose a model with a larger window",
  },
  { pattern: /insufficient_quota/i, isFinal: false, fix: budgetFix },
];

/** The fix of this failure; null when none is known. */
function knownFix(error: VendorError, settings: ProviderSettings, model: string): KnownFix | null {
  const words = `${error.code ?? ""} ${error.message}`;
  const known = knownFailures.find(({ pattern }) => pattern.test(words));
  if (known) return { text: known.fix(settings, model), isFinal: known.isFinal };
  // DeepSeek and OpenRouter refuse an empty account with this status, in various words.
  if (error.status === 402) return { text: budgetFix(settings), isFinal: false };
  return error.status === 404 ? { text: notFoundFix(words, settings, model), isFinal: true } : null;
}

function budgetFix({ id }: ProviderSettings): string {
  return `the budget of the ${id} account is spent: add credit or raise its limit`;
}

function notFoundFix(words: string, settings: ProviderSettings, model: string): string {
  if (!/model/i.test(words)) return `there is no API at ${shownUrl(baseUrlOf(settings))}: ${otherApiFix(settings)}`;
  if (settings.id === "ollama") return `fetch it with \`ollama pull ${model}\`, or list the models: troupe models ls`;
  return "list the available models: troupe models ls";
}

/** The fix for a server without this API. */
function otherApiFix({ baseUrl }: ProviderSettings): string {
  const ending = baseUrl !== null && !/\/v\d+\/?$/.test(baseUrl) ? ": most end with /v1" : "";
  return `check the base URL of the OpenAI-compatible API${ending}`;
}

/** The fix for a wrong or missing key. */
function keyFix({ key, authToken, keyVariable, id }: ProviderSettings): string | null {
  if (keyVariable === null) return `set a key for ${id} in the configuration`;
  return key === null && authToken === null
    ? `no key is set: export ${keyVariable}=…`
    : `the key is not accepted: export ${keyVariable}=…`;
}
