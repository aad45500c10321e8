import { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";
import { RunFailure } from "@troupe/core";
import { retryAfterMs } from "@troupe/core/internal";
import type { ProviderSettings } from "../settings.ts";
import { chainOf, isUnaskable, isUnconnected, trustFix } from "../wire/connection-errors.ts";
import { failureOf } from "../wire/failure.ts";
import { redactorOf, shownUrl } from "../wire/redaction.ts";
import { isSendable } from "../wire/sendable.ts";
import { anthropicBaseUrl } from "./client.ts";
import type { WireError } from "./stream-event.ts";

/** Whatever can go wrong with a call, in words that say what to do; never with a key in them. */
export interface Failures {
  /** Of what was thrown before an answer began. */
  ofThrown(thrown: unknown): RunFailure;
  /** Of an error that a server told where an answer belongs: within its stream, or in place of it. */
  ofEvent(error: WireError, begun: boolean): RunFailure;
  /** Of a stream that ended, or broke, before the answer did. */
  ofCut(why: unknown): RunFailure;
  /** Of an answer that no server of this wire gives. */
  ofForeign(what: string, begun?: boolean): RunFailure;
  cancelled(): RunFailure;
}

/** What an event's error would have been as an HTTP status. */
const statusByType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

export function createFailures(settings: ProviderSettings, now: () => number): Failures {
  const { id: provider } = settings;
  const url = shownUrl(settings.baseUrl ?? anthropicBaseUrl);
  const redact = redactorOf(settings);
  const keyFix = keyFixOf(settings);
  const fail = ({ status = null, code = null, retryAfterMs = null, message, begun }: Trouble): RunFailure =>
    failureOf({
      provider,
      status,
      code: code === null ? null : redact(code),
      message: redact(message),
      retryAfterMs,
      begun,
      keyFix,
    });
  const refuse = (type: "params" | "auth", message: string, begun = false): RunFailure =>
    new RunFailure({ type, message: redact(`${provider}: ${message}`), recoverable: false, begun });
  return {
    ofThrown(thrown) {
      if (thrown instanceof APIError && thrown.status !== undefined)
        return fail(ofStatus(thrown, settings, url, now()));
      if (!isSendable(settings.key ?? "") || !isSendable(settings.authToken ?? ""))
        return refuse("auth", `the key has a line break or the like in it; ${keyFix}`);
      const cause = thrown instanceof APIConnectionError ? (thrown.cause ?? null) : thrown;
      if (!(thrown instanceof APIConnectionError) || isUnaskable(cause)) {
        return refuse("params", `${url} cannot be asked: ${wordsOf(cause)}; check the base URL and the headers`);
      }
      const begun = !isUnconnected(cause);
      const fix = trustFix(cause);
      return fail({
        message: `${begun ? "lost the connection to" : "cannot connect to"} ${url}: ${wordsOf(cause)}${fix === null ? "" : `; ${fix}`}`,
        begun,
      });
    },
    ofEvent({ type, message, details }, begun) {
      const status = statusByType[type ?? ""] ?? 500;
      return fail({ status, code: details?.error_code ?? type ?? null, message: shortened(message), begun });
    },
    ofCut(why) {
      if (why instanceof RunFailure) return why;
      return fail({ message: `the answer broke off before its end${why ? `: ${wordsOf(why)}` : ""}`, begun: true });
    },
    ofForeign: (what, begun = true) =>
      refuse(
        "params",
        `${url} answered with ${what}, not with a stream of the Messages API; check the base URL of "${provider}"`,
        begun,
      ),
    cancelled: () => new RunFailure({ type: "cancelled", message: "the model call was cancelled", recoverable: false }),
  };
}

interface Trouble {
  status?: number | null;
  code?: string | null;
  message: string;
  retryAfterMs?: number | null;
  begun: boolean;
}

function keyFixOf({ id, key, authToken, keyVariable }: ProviderSettings): string {
  const variable = keyVariable ?? "a variable that the configuration names";
  if (key === null && authToken === null) return `no key is set for "${id}": export ${variable}=…`;
  return `check the key of "${id}": export ${variable}=…`;
}

/** Turned away, before anything was begun. */
function ofStatus(thrown: APIError, settings: ProviderSettings, url: string, nowMs: number): Trouble {
  const { headers, apiMessage, errorCode, type } = thrown;
  const said = typeof apiMessage === "string" ? apiMessage : thrown.message.replace(/^\d+ /, "");
  return {
    status: thrown.status ?? null,
    code: errorCode ?? type,
    message: `${shortened(said)}${fixOf(thrown, settings, url, headers)}`,
    retryAfterMs: headers ? retryAfterMs(headers, nowMs) : null,
    begun: false,
  };
}

function fixOf({ status = 0, type }: APIError, { id }: ProviderSettings, url: string, headers?: Headers): string {
  if (status >= 300 && status < 400) {
    return `; it redirects to ${originOf(headers?.get("location"))}, where no key is sent: set that as the base URL of "${id}" if you trust it`;
  }
  if (status !== 404) return "";
  if (type === "not_found_error") return "; see which models there are: troupe models ls";
  return `; there is no Messages API at ${url}/v1/messages: check the base URL of "${id}"`;
}

function originOf(location: string | null | undefined): string {
  return location && URL.canParse(location) ? new URL(location).origin : "another place";
}

function wordsOf(thrown: unknown): string {
  const { message, code } = chainOf(thrown).at(-1) ?? { message: "" };
  return code && !message.includes(code) ? `${message} (${code})` : message;
}

const wordsMax = 500;

/** In one line; of a page of HTML, what can be read. */
function shortened(message: string | null | undefined): string {
  const text = (message ?? "")
    .replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ")
    .replace(/<\/?[a-z!][^>]*>/gi, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (text === "") return "it did not say why";
  return text.length > wordsMax ? `${text.slice(0, wordsMax).toWellFormed()}…` : text;
}
