import type { calendar_v3 } from "@googleapis/calendar";
import type { gmail_v1 } from "@googleapis/gmail";
import type { people_v1 } from "@googleapis/people";
import type { z } from "zod";
import type { ConnectionStatus } from "../ports/connection.ts";
import { ConnectorError } from "../ports/connector-error.ts";
import type { GoogleAccess } from "./google-access.ts";
import { type FailedCall, toConnectorError } from "./google-error.ts";
import { loadGoogle, requestOptions } from "./load-google.ts";

/** The three APIs, with the access of one connection. */
export interface GoogleApis {
  gmail: gmail_v1.Gmail;
  calendar: calendar_v3.Calendar;
  people: people_v1.People;
}

/** A connection to Google in use. */
export interface GoogleSession {
  readonly account: string;
  /** Calls an API and parses its answer. Throws `ConnectorError` only. */
  call<Schema extends z.ZodType>(
    call: Omit<FailedCall, "account"> & { schema: Schema },
    act: (apis: GoogleApis) => Promise<{ data: unknown }>,
  ): Promise<z.output<Schema>>;
  /** The same, but throws the error of the SDK, for calls whose status has a meaning of its own. */
  callRaw<Result>(act: (apis: GoogleApis) => Promise<Result>): Promise<Result>;
  /** `probe` is one cheap call. A connection that is known as expired or revoked is not asked. */
  status(canWrite: boolean, probe: (apis: GoogleApis) => Promise<unknown>): Promise<ConnectionStatus>;
  refresh(): Promise<void>;
}

export interface GoogleSessionOptions {
  access: GoogleAccess;
  baseUrl: string | null;
  timeoutMs: number;
}

export function createGoogleSession({ access, ...options }: GoogleSessionOptions): GoogleSession {
  const { account } = access;
  let apis: Promise<GoogleApis & { use(token: string): void }> | null = null;
  const withToken = async (token: string): Promise<GoogleApis> => {
    apis ??= openApis(options);
    const opened = await apis;
    opened.use(token);
    return opened;
  };
  const callRaw: GoogleSession["callRaw"] = async (act) => await act(await withToken(await access.token()));
  return {
    account,
    callRaw,
    async call({ schema, ...failed }, act) {
      let data: unknown;
      try {
        ({ data } = await callRaw(act));
      } catch (thrown) {
        throw toConnectorError(thrown, { ...failed, account });
      }
      return readAnswer(schema, data, failed.what);
    },
    async status(canWrite, probe) {
      const { token, auth } = await access.state();
      const known = { account, canWrite, rateLimit: null, note: null };
      if (auth !== "valid") return { ...known, auth };
      try {
        await probe(await withToken(token));
        return { ...known, auth };
      } catch (thrown) {
        const error = toConnectorError(thrown, { what: "ask Google about the connection", account });
        if (error instanceof ConnectorError && error.type === "auth") return { ...known, auth: "expired" };
        throw error;
      }
    },
    refresh: () => access.refresh(),
  };
}

/** A broken proxy answers with a page of its own. The outcome of a change is then unknown, as with a lost connection. */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, data: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const problem = typeof data === "string" ? "the answer is not JSON" : `${parsed.error.issues[0]?.path.join(".")}`;
  throw new ConnectorError("network", `cannot ${what}: Google's answer cannot be read (${problem})`, {
    fix: "try again; if it stays, check the proxy",
  });
}

async function openApis({ baseUrl, timeoutMs }: Omit<GoogleSessionOptions, "access">) {
  const sdk = await loadGoogle();
  const client = new sdk.OAuth2();
  const options = { ...requestOptions({ baseUrl, timeoutMs }), auth: client };
  return {
    gmail: sdk.gmail({ version: "v1", ...options }),
    calendar: sdk.calendar({ version: "v3", ...options }),
    people: sdk.people({ version: "v1", ...options }),
    // Only the access token: with a refresh token, the SDK would refresh by itself, without the lock of the store.
    use: (token: string) => client.setCredentials({ access_token: token }),
  };
}
