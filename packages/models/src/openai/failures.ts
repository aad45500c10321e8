import { type RunError, RunFailure } from "@troupe/core";
import { retryAfterMs } from "@troupe/core/internal";
import { APIConnectionError, APIError } from "openai";
import type { ProviderSettings } from "../settings.ts";
import { chainOf, isPackedWrongly, isUnaskable, isUnconnected, trustFix } from "../wire/connection-errors.ts";
import { failureOf } from "../wire/failure.ts";
import { shownUrl } from "../wire/redaction.ts";
import { isSendable } from "../wire/sendable.ts";
import { keyFix, knownTrouble, noApiFix } from "./fixes.ts";
import { NotAnApi, openAiBaseUrl } from "./stream.ts";
import { BrokenAnswer, type VendorError, vendorErrorOf } from "./vendor-error.ts";

/** The call that failed. */
export interface FailedCall {
  settings: ProviderSettings;
  /** The model's name, without the provider's id. */
  model: string;
  /** Takes the key out of a server's words. */
  redact(text: string): string;
  /** For a time of waiting that is said as a moment. */
  nowMs: number;
  /** Whether a response had begun well. */
  answering: boolean;
  /** Whether words or calls had come. */
  saidSomething: boolean;
}

export function cancelled(): RunFailure {
  return new RunFailure({ type: "cancelled", message: "the model call was cancelled", recoverable: false });
}

/** Whatever was thrown during a call, as what it means to a run. */
export function toFailure(thrown: unknown, call: FailedCall): RunFailure {
  if (thrown instanceof RunFailure) return thrown;
  if (thrown instanceof NotAnApi)
    return refusal(`${addressOf(call)}: ${call.redact(thrown.message)}; ${noApiFix(call.settings)}`);
  if (thrown instanceof BrokenAnswer) return withinAnswer(thrown.error, call);
  if (thrown instanceof APIError && thrown.status !== undefined) return atOnce(thrown, call);
  return unsendable(call) ?? lost(thrown, call);
}

/** What no header can carry was never sent. */
function unsendable({ settings }: FailedCall): RunFailure | null {
  const { id, key, authToken, headers } = settings;
  if (!isSendable(key ?? authToken ?? "")) {
    const message = `${id}: the key has a line break or the like in it; ${keyFix(settings)}`;
    return new RunFailure({ type: "auth", message, recoverable: false, begun: false });
  }
  const name = Object.keys(headers).find((name) => !isSendable(headers[name] ?? ""));
  return name === undefined ? null : refusal(`${id}: the header ${name} of the configuration cannot be sent`);
}

/** An HTTP error status, before anything of an answer: the model has not begun. */
function atOnce(error: APIError, call: FailedCall): RunFailure {
  const status = error.status ?? 0;
  const headers = error.headers ?? new Headers();
  if (status >= 300 && status < 400) return redirected(headers.get("location"), status, call);
  // A body that is no JSON stands in the message, after the status; what stands there without one is the SDK's own.
  const said = error.error ?? error.message.replace(/^\d+ (status code \(no body\))?/, "");
  return vendorFailure(vendorErrorOf(said, status), call, {
    retryAfterMs: retryAfterMs(headers, call.nowMs),
    begun: false,
  });
}

function redirected(location: string | null, status: number, call: FailedCall): RunFailure {
  const target = location === null ? null : URL.parse(location, call.settings.baseUrl ?? openAiBaseUrl);
  const to = target ? ` to ${shownUrl(target.href)}` : "";
  const words = `${addressOf(call)} sends requests on${to} (HTTP ${status}), which is not followed: the key would go there, too`;
  return refusal(`${words}; set the base URL to where the API really is`);
}

/** Refused work is no work; whatever else goes wrong within an answer comes after the model has begun. */
function withinAnswer(error: VendorError, call: FailedCall): RunFailure {
  const wasRefused = !call.saidSomething && error.status !== null && error.status < 500;
  return vendorFailure(error, call, { retryAfterMs: null, begun: !wasRefused });
}

function vendorFailure(
  error: VendorError,
  call: FailedCall,
  { retryAfterMs, begun }: { retryAfterMs: number | null; begun: boolean },
): RunFailure {
  const said = call.redact(error.message);
  const trouble = knownTrouble({ ...error, message: said }, call.settings, call.model);
  const message = trouble ? `${said}; ${trouble.fix}` : said;
  if (trouble?.isFinal) return refusal(`${call.settings.id}: ${message}`, begun);
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

/** Nobody gets further by asking again. */
function refusal(message: string, begun = false): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false, begun });
}

/** No connection, or one that broke. */
function lost(thrown: unknown, call: FailedCall): RunFailure {
  const code = codeOf(thrown);
  const address = addressOf(call);
  if (isPackedWrongly(thrown) && !call.saidSomething) {
    const message = `${address}: it answered with bytes that cannot be unpacked (${code}); ${noApiFix(call.settings)}`;
    return refusal(message, true);
  }
  if (!call.answering && isUnaskable(thrown)) return refusal(`${address} cannot be asked; check the base URL`);
  const begun = call.answering || !isUnconnected(thrown);
  const why = code ?? (thrown instanceof SyntaxError ? "it sent an event that is no JSON" : "no reason is known");
  const what = call.answering ? `the answer of ${address} broke off (${why})` : `no connection to ${address} (${why})`;
  const fix = trustFix(thrown) ?? (call.settings.isLocal && !begun ? "is the server running?" : null);
  return new RunFailure({
    type: "network",
    message: `${call.settings.id}: ${what}${fix === null ? "" : `; ${fix}`}`,
    recoverable: true,
    begun,
  } satisfies Omit<RunError, "tool" | "retryAfterMs">);
}

/** The system's word for what happened, wherever in the chain of causes it stands. */
function codeOf(thrown: unknown): string | null {
  return (
    chainOf(thrown).find((error) => typeof error.code === "string" && !(error instanceof APIConnectionError))?.code ??
    null
  );
}

function addressOf({ settings }: FailedCall): string {
  return shownUrl(settings.baseUrl ?? openAiBaseUrl);
}
