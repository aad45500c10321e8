import { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";
import { RunFailure } from "@troupe/core";
import { retryAfterMs } from "@troupe/core/internal";
import { z } from "zod";
import { baseUrlOf, type ProviderSettings } from "../settings.ts";
import { causesOf, failureOf, isConnectFailure, isInvalidUrl, tlsFix } from "../wire/failure.ts";
import { isHeaderValue } from "../wire/http.ts";
import { redactorOf, shownUrl } from "../wire/redaction.ts";

/** An error in a response body or in a stream event. */
export const WireError = z.object({
  type: z.string().nullish(),
  message: z.string().nullish(),
  details: z.object({ error_code: z.string().nullish() }).nullish(),
});
export type WireError = z.infer<typeof WireError>;

/** Failures of a call, each with a fix where one is known, and never with a key in the message. */
export interface Failures {
  /** Of an error that was thrown before a response began. */
  ofThrown(thrown: unknown): RunFailure;
  /** Of an error that the server sent inside a stream, or in place of one. */
  ofEvent(error: WireError, begun: boolean): RunFailure;
  /** Of a stream that ended or broke before the answer was complete. */
  ofBrokenStream(reason: unknown): RunFailure;
  /** Of a response that no server of this API sends. */
  ofOtherApi(what: string, begun?: boolean): RunFailure;
}

/** The HTTP status that the error of an event stands for. */
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
  const url = shownUrl(baseUrlOf(settings));
  const redact = redactorOf(settings);
  const keyFix = keyFixOf(settings);
  const fail = ({ status = null, code = null, retryAfterMs = null, message, begun }: FailureDetails): RunFailure =>
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
      if (thrown instanceof APIError && thrown.status !== undefined) {
        return fail(refusalOf(thrown, settings, url, now()));
      }
      if (!isHeaderValue(settings.key ?? "") || !isHeaderValue(settings.authToken ?? "")) {
        return refuse("auth", `the key contains a character that cannot be sent, such as a line break; ${keyFix}`);
      }
      const cause = thrown instanceof APIConnectionError ? (thrown.cause ?? null) : thrown;
      if (!(thrown instanceof APIConnectionError) || isInvalidUrl(cause)) {
        return refuse(
          "params",
          `cannot send a request to ${url}: ${reasonOf(cause)}; check the base URL and the headers`,
        );
      }
      const begun = !isConnectFailure(cause);
      const fix = tlsFix(cause);
      return fail({
        message: `${begun ? "lost the connection to" : "cannot connect to"} ${url}: ${reasonOf(cause)}${fix === null ? "" : `; ${fix}`}`,
        begun,
      });
    },
    ofEvent({ type, message, details }, begun) {
      const status = statusByType[type ?? ""] ?? 500;
      return fail({ status, code: details?.error_code ?? type ?? null, message: oneLine(message), begun });
    },
    ofBrokenStream(reason) {
      if (reason instanceof RunFailure) return reason;
      return fail({
        message: `the answer broke off before its end${reason ? `: ${reasonOf(reason)}` : ""}`,
        begun: true,
      });
    },
    ofOtherApi: (what, begun = true) =>
      refuse(
        "params",
        `${url} answered with ${what}, not with a stream of the Messages API; check the base URL of "${provider}"`,
        begun,
      ),
  };
}

interface FailureDetails {
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

/** An HTTP error status: the server refused the request before any work. */
function refusalOf(thrown: APIError, settings: ProviderSettings, url: string, nowMs: number): FailureDetails {
  const { headers, apiMessage, errorCode, type } = thrown;
  const message = typeof apiMessage === "string" ? apiMessage : thrown.message.replace(/^\d+ /, "");
  return {
    status: thrown.status ?? null,
    code: errorCode ?? type,
    message: `${oneLine(message)}${fixOf(thrown, settings, url, headers)}`,
    retryAfterMs: headers ? retryAfterMs(headers, nowMs) : null,
    begun: false,
  };
}

function fixOf({ status = 0, type }: APIError, { id }: ProviderSettings, url: string, headers?: Headers): string {
  if (status >= 300 && status < 400) {
    const target = originOf(headers?.get("location"));
    return `; it redirects to ${target}, where no key is sent: if you trust that address, set it as the base URL of "${id}"`;
  }
  if (status !== 404) return "";
  if (type === "not_found_error") return "; list the available models: troupe models ls";
  return `; there is no Messages API at ${url}/v1/messages: check the base URL of "${id}"`;
}

function originOf(location: string | null | undefined): string {
  return location && URL.canParse(location) ? new URL(location).origin : "another address";
}

function reasonOf(thrown: unknown): string {
  const { message, code } = causesOf(thrown).at(-1) ?? { message: "" };
  return code && !message.includes(code) ? `${message} (${code})` : message;
}

const messageCharactersMax = 500;

/** A server's message on one line, without HTML markup. */
function oneLine(message: string | null | undefined): string {
  const text = (message ?? "")
    .replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ")
    .replace(/<\/?[a-z!][^>]*>/gi, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (text === "") return "the server gave no reason";
  return text.length > messageCharactersMax ? `${text.slice(0, messageCharactersMax).toWellFormed()}…` : text;
}
