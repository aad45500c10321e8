import { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";
import { RunFailure } from "@troupe/core";
import { failureOf } from "../failure.ts";
import { redactorOf, shownUrl } from "../redact.ts";
import { retryAfterMs } from "../retry-after.ts";
import type { ProviderSettings } from "../settings.ts";
import { anthropicBaseUrl } from "./client.ts";
import type { WireError } from "./stream-event.ts";

/** Whatever can go wrong with a call, in words that say what to do; never with a key in them. */
export interface Failures {
  /** Of what was thrown before an answer began. */
  ofThrown(thrown: unknown): RunFailure;
  /** Of an error that came as an event, within a stream that had begun well. */
  ofEvent(error: WireError, begun?: boolean): RunFailure;
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
  const fail = (failure: Partial<Parameters<typeof failureOf>[0]> & { message: string; begun: boolean }): RunFailure =>
    failureOf({
      provider,
      status: null,
      code: null,
      retryAfterMs: null,
      keyFix,
      ...failure,
      message: redact(failure.message),
    });
  const ofForeign = (what: string, begun = true): RunFailure =>
    fail({
      status: 200,
      message: `${url} answered with ${what}, not with a stream of the Messages API; check the base URL of the provider "${provider}"`,
      begun,
    });
  return {
    ofThrown(thrown) {
      if (thrown instanceof RunFailure) return thrown;
      if (thrown instanceof APIError && thrown.status !== undefined) {
        return fail({ ...statusFailure(thrown, settings, url, now()), begun: false });
      }
      if (hasUnsendableKey(settings)) {
        return fail({
          status: 401,
          message: "the key has a character that cannot be sent, such as a line break",
          begun: false,
        });
      }
      const cause = thrown instanceof APIConnectionError ? (thrown.cause ?? thrown) : thrown;
      if ((cause === thrown && !(thrown instanceof APIConnectionError)) || isUnaskable(cause)) {
        return fail({ status: 400, message: `${url} cannot be asked: ${wordsOf(cause)}`, begun: false });
      }
      const begun = !isUnconnected(cause);
      const message = begun ? `the connection to ${url} broke` : `cannot connect to ${url}`;
      return fail({ message: `${message}: ${wordsOf(cause)}`, begun });
    },
    ofEvent({ type, message, details }, begun = true) {
      const status = statusByType[type ?? ""] ?? 500;
      return fail({
        status,
        code: details?.error_code ?? type ?? null,
        message: message ?? "an error without words",
        begun,
      });
    },
    ofCut(why) {
      if (why instanceof RunFailure) return why;
      const reason = why === null ? "" : `: ${wordsOf(why)}`;
      return fail({ message: `the answer broke off before its end${reason}`, begun: true });
    },
    ofForeign,
    cancelled: () => new RunFailure({ type: "cancelled", message: "the model call was cancelled", recoverable: false }),
  };
}

function keyFixOf({ id, key, authToken, keyVariable }: ProviderSettings): string {
  const variable = keyVariable ?? "a variable that the configuration names";
  if (key === null && authToken === null) return `no key is set for "${id}": export ${variable}=…`;
  return `check the key of "${id}": export ${variable}=…`;
}

type StatusFailure = { status: number; code: string | null; message: string; retryAfterMs: number | null };

function statusFailure(thrown: APIError, settings: ProviderSettings, url: string, nowMs: number): StatusFailure {
  const { status = 0, headers, apiMessage, errorCode, type } = thrown;
  const said = typeof apiMessage === "string" ? apiMessage : plainTextOf(thrown.message);
  return {
    status,
    code: errorCode ?? type,
    message: `${said}${fixOf(thrown, settings, url, headers)}`,
    retryAfterMs: headers ? retryAfterMs(headers, nowMs) : null,
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

function hasUnsendableKey({ key, authToken }: ProviderSettings): boolean {
  return /[^\t\x20-\x7e]/.test(`${key?.trim()}${authToken?.trim()}`);
}

/** Of a request that was not even tried, and never will be: the address is none, or one that is not spoken to. */
function isUnaskable(thrown: unknown): boolean {
  return chainOf(thrown).some(
    ({ message, code }) => code === "ERR_INVALID_URL" || /bad port|unknown scheme|includes credentials/i.test(message),
  );
}

/** Of a request that never reached anyone: the name is not known, nobody listens, or it is not who it should be. */
function isUnconnected(thrown: unknown): boolean {
  return chainOf(thrown).some(
    ({ syscall, code }) =>
      /^(connect|getaddrinfo)$/.test(syscall ?? "") ||
      /CONNECT_TIMEOUT|CERT|TLS|SELF_SIGNED|EPROTO|UNABLE_TO/.test(code ?? ""),
  );
}

interface Thrown {
  message: string;
  code?: string;
  syscall?: string;
}

/** An error and what caused it, down to the first cause: what fetch says of itself is "fetch failed". */
export function chainOf(thrown: unknown): Thrown[] {
  const chain: Thrown[] = [];
  for (let error = thrown; error instanceof Error && chain.length < 10; ) {
    chain.push(error);
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return chain.length > 0 ? chain : [{ message: String(thrown) }];
}

function wordsOf(thrown: unknown): string {
  const { message, code } = chainOf(thrown).at(-1) ?? { message: "" };
  return code && !message.includes(code) ? `${message} (${code})` : message;
}

/** A page of HTML has nothing to say to anyone who reads a line of text. */
function plainTextOf(message: string): string {
  const text = message
    .replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text;
}
