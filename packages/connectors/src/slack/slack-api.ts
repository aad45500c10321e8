import type { WebClient } from "@slack/web-api";
import { loadOptional } from "@troupe/core/internal";
import type { z } from "zod";
import { rateLimited, toConnectorError, unreadable } from "./slack-errors.ts";

/** Options of the connection to Slack. */
export interface SlackApiOptions {
  /** The base URL of the Web API, with a slash at its end. */
  apiUrl: string;
  timeoutMs: number;
}

export const slackApiUrlDefault = "https://slack.com/api/";
export const slackTimeoutMsDefault = 30_000;

/** Calls a method of Slack's Web API and parses its answer. Throws `ConnectorError`. */
export type SlackCall = <Schema extends z.ZodType>(
  method: string,
  args: Record<string, unknown>,
  schema: Schema,
) => Promise<z.output<Schema>>;

/**
 * The Web API by Slack's SDK, which loads at the first call. Its own retries are off, because the retry rules of the tools
 * decide about a repeated call.
 *
 * @param readToken the token of the next call; null for calls without one
 */
export function createSlackCall(options: SlackApiOptions, readToken: () => Promise<string | null>): SlackCall {
  let client: { token: string | null; web: WebClient } | null = null;
  return async (method, args, schema) => {
    const token = await readToken();
    if (client === null || client.token !== token) client = { token, web: await createClient(options, token) };
    try {
      const answer = await client.web.apiCall(method, args);
      const parsed = schema.safeParse(answer);
      if (!parsed.success) throw unreadable(method, parsed.error);
      return parsed.data;
    } catch (thrown) {
      throw toConnectorError(method, thrown);
    }
  };
}

async function createClient({ apiUrl, timeoutMs }: SlackApiOptions, token: string | null): Promise<WebClient> {
  const sdk = await loadOptional("@slack/web-api@8", () => import("@slack/web-api"));
  return new sdk.WebClient(token ?? undefined, {
    slackApiUrl: apiUrl,
    timeout: timeoutMs,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: silentLogger,
    // The SDK has no error of its own for a refusal without a valid time.
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (response.status === tooManyRequests && !(Number(response.headers.get("retry-after")) > 0)) {
        await response.body?.cancel();
        throw rateLimited(String(url).replace(/^.*\//, ""), null);
      }
      return response;
    },
  });
}

const tooManyRequests = 429;

/** The SDK would write to the console, and parts of messages with it. */
const silentLogger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  setName() {},
  getLevel: () => "error" as never,
};
