import type { calendar } from "@googleapis/calendar";
import type { AuthPlus, gmail } from "@googleapis/gmail";
import type { people } from "@googleapis/people";
import { loadOptional } from "@troupe/core/internal";

/** The parts of the SDKs that troupe uses. */
export interface GoogleSdk {
  OAuth2: AuthPlus["OAuth2"];
  gmail: typeof gmail;
  calendar: typeof calendar;
  people: typeof people;
}

/** Loads the SDKs of Google at their first use. Throws `MISSING_PACKAGE` with the command that installs them. */
export async function loadGoogle(): Promise<GoogleSdk> {
  return await loadOptional("@googleapis/calendar@16 @googleapis/gmail@18 @googleapis/people@8", async () => {
    const [{ auth, gmail }, { calendar }, { people }] = await Promise.all([
      import("@googleapis/gmail"),
      import("@googleapis/calendar"),
      import("@googleapis/people"),
    ]);
    return { OAuth2: auth.OAuth2, gmail, calendar, people };
  });
}

/** A slow answer of Google takes a few seconds. */
export const timeoutMsDefault = 30_000;

/**
 * Options of every request. The SDKs never try again by themselves: the caller knows which calls may repeat, and counts them.
 * A proxy or a test has its own URL in place of all servers of Google.
 */
export function requestOptions({ baseUrl, timeoutMs }: { baseUrl: string | null; timeoutMs: number }) {
  const retry = { retry: false, retryConfig: { retry: 0, noResponseRetries: 0 }, timeout: timeoutMs };
  return baseUrl === null ? retry : { ...retry, rootUrl: baseUrl };
}

/** The servers of OAuth, as the SDK names them. */
export function oauthEndpoints(baseUrl: string | null) {
  const at = (own: string, path: string): string => (baseUrl === null ? own : new URL(path, baseUrl).href);
  return {
    oauth2AuthBaseUrl: at("https://accounts.google.com/o/oauth2/v2/auth", "/o/oauth2/v2/auth"),
    oauth2TokenUrl: at("https://oauth2.googleapis.com/token", "/token"),
    oauth2RevokeUrl: at("https://oauth2.googleapis.com/revoke", "/revoke"),
  };
}
