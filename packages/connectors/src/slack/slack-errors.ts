import { ConnectorError, type ConnectorErrorType } from "../ports/connector-error.ts";

interface ErrorRule {
  type: ConnectorErrorType;
  message: string;
  param?: string;
  fix?: string;
}

const connectAgain = "connect again: troupe connect slack";
const invite = "invite the app in Slack: /invite @APP";
const auth = (message: string): ErrorRule => ({ type: "auth", message, fix: connectAgain });
const denied = (message: string, fix?: string): ErrorRule => ({ type: "permission", message, ...(fix ? { fix } : {}) });
const wrong = (param: string, message: string): ErrorRule => ({ type: "params", message, param });
const busy = (message: string): ErrorRule => ({ type: "network", message, fix: "try again later" });

/** Errors of Slack's Web API by their code. */
const rules: Readonly<Record<string, ErrorRule>> = {
  token_expired: auth("the token of Slack has expired"),
  token_revoked: auth("the token of Slack was revoked"),
  invalid_auth: auth("Slack does not accept the token"),
  not_authed: auth("Slack received no token"),
  account_inactive: auth("the user or the workspace of the token was deactivated"),
  invalid_refresh_token: auth("Slack does not accept the refresh token"),
  not_in_channel: denied("the account is not a member of the channel", invite),
  user_not_in_channel: denied("the account is not a member of the channel", invite),
  is_archived: denied("the channel is archived", "choose another channel"),
  no_permission: denied("the account has no permission for this"),
  access_denied: denied("the account has no permission for this"),
  restricted_action: denied("a setting of the workspace forbids this", "ask an owner of the workspace"),
  not_allowed_token_type: denied("this kind of token may not call the method", "connect with a user token (xoxp-…)"),
  team_access_not_granted: denied("the token has no access to this workspace"),
  ekm_access_denied: denied("the owners of the workspace have suspended messages"),
  channel_not_found: wrong("channel", "the account sees no such channel"),
  user_not_found: wrong("user", "the workspace has no such member"),
  users_not_found: wrong("user", "no member has this address"),
  user_not_visible: wrong("user", "the account does not see this member"),
  thread_not_found: wrong("message", "the channel has no such message"),
  message_not_found: wrong("message", "the channel has no such message"),
  cannot_reply_to_message: wrong("thread", "this message can have no replies"),
  msg_too_long: wrong("text", "the text is too long for Slack"),
  invalid_cursor: wrong("cursor", "this is not a cursor of this list"),
  ratelimited: { type: "rate_limit", message: "Slack accepts no more calls now" },
  message_limit_exceeded: { type: "rate_limit", message: "the workspace has posted too many messages" },
  internal_error: busy("Slack has an internal error"),
  fatal_error: busy("Slack has an internal error"),
  service_unavailable: busy("Slack is not available"),
  request_timeout: busy("Slack received the call too slowly"),
  team_added_to_org: busy("the workspace is being moved"),
};

/** An error of the SDK. Its classes exist only after it is loaded, so it is recognised by its fields. */
interface SdkError {
  code?: unknown;
  data?: { error?: unknown; needed?: unknown; response_metadata?: { retryAfter?: unknown } };
  retryAfter?: unknown;
  statusCode?: unknown;
  original?: unknown;
}

/** The error of a connector for anything that a call of the SDK threw. No text of the answer gets into it. */
export function toConnectorError(method: string, thrown: unknown): unknown {
  const error: SdkError = typeof thrown === "object" && thrown !== null ? thrown : {};
  if (error.original instanceof ConnectorError) return error.original;
  if (thrown instanceof ConnectorError) return thrown;
  switch (error.code) {
    case "slack_webapi_platform_error":
      return platformError(method, error.data ?? {}, thrown);
    case "slack_webapi_rate_limited_error":
      return rateLimited(method, error.retryAfter, thrown);
    case "slack_webapi_http_error":
      return httpError(method, Number(error.statusCode), thrown);
    default:
      return unreachable(method, error.original ?? thrown);
  }
}

function platformError(method: string, data: NonNullable<SdkError["data"]>, cause: unknown): ConnectorError {
  const code = typeof data.error === "string" && /^[a-z_]{1,60}$/.test(data.error) ? data.error : null;
  // The SDK gives a body that is not JSON the form of an error.
  if (code === null) return unreadable(method, cause);
  if (code === "missing_scope") {
    const needed = typeof data.needed === "string" ? data.needed.replace(/[^\w:.,-]/g, "").slice(0, 200) : "";
    const scope = needed === "" ? "a scope" : `the scope ${needed}`;
    return new ConnectorError("permission", `${method}: the token lacks ${scope}`, {
      fix: "add it to the app, install the app again, then: troupe connect slack",
      cause,
    });
  }
  if (code === "ratelimited") return rateLimited(method, data.response_metadata?.retryAfter, cause);
  const rule = rules[code] ?? { type: "tool_error", message: "Slack refused the call" };
  const { type, message, ...details } = rule;
  return new ConnectorError(type, `${method}: ${message} (${code})`, { ...details, cause });
}

/** The answer has not the form that Slack documents, so the outcome of the call is unknown. */
export function unreadable(method: string, cause: unknown): ConnectorError {
  return new ConnectorError("network", `${method}: the answer of Slack cannot be read`, {
    fix: "try again; check apiUrl and the proxy if it lasts",
    cause,
  });
}

export function rateLimited(method: string, retryAfterS: unknown, cause?: unknown): ConnectorError {
  const seconds = Number(retryAfterS);
  const isNamed = Number.isFinite(seconds) && seconds > 0;
  const when = isNamed ? `; Slack accepts calls again in ${seconds} s` : "";
  return new ConnectorError("rate_limit", `${method}: Slack accepts no more calls now${when}`, {
    ...(isNamed ? { retryAfterS: seconds } : {}),
    cause,
  });
}

const serverErrorFirst = 500;

function httpError(method: string, status: number, cause: unknown): ConnectorError {
  const type = status >= serverErrorFirst ? "network" : "tool_error";
  return new ConnectorError(type, `${method}: Slack answered with HTTP status ${status}`, { cause });
}

function unreachable(method: string, cause: unknown): ConnectorError {
  const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
  const message = isTimeout ? "Slack did not answer in time" : "Slack cannot be reached";
  return new ConnectorError("network", `${method}: ${message}`, { fix: "check the network, then try again", cause });
}
