import { randomBytes, timingSafeEqual } from "node:crypto";
import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import { ConnectorError, parseParams } from "../ports/connector-error.ts";
import { EmailAddress, LineText, toLine } from "../ports/person.ts";
import { type ConnectionStore, StoredConnection } from "../tokens/connections.ts";
import { openLoopback } from "../tokens/loopback.ts";
import { GoogleConnection, type GoogleTokens, readTokens } from "./google-access.ts";
import type { GoogleClient } from "./google-client.ts";
import { connectCommand, statusOf, toConnectorError } from "./google-error.ts";
import { loadGoogle, oauthEndpoints, requestOptions, timeoutMsDefault } from "./load-google.ts";
import { domainsOf, type GoogleScope, googleScopes, missingScopes } from "./scopes.ts";

/** Options of `connectGoogle`. */
export interface ConnectGoogleOptions {
  store: ConnectionStore;
  client: GoogleClient;
  /** Shows the URL to the user, and opens it in a browser if there is one. */
  showUrl(url: string): void | Promise<void>;
  /** The name of the connection, or its mail address. Null: the address of the account. */
  name?: string | null;
  /** The port of the browser's answer. 0: a free one. */
  port?: number;
  /** A URL in place of Google's servers, for proxies and tests. */
  baseUrl?: string | null;
  /** Time for the user to answer on Google's page. */
  answerMs?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
  clock?: { now(): number };
}

/** A new connection, and the permissions that the user did not give. */
export interface ConnectedGoogle {
  connection: StoredConnection;
  missing: readonly GoogleScope[];
}

const answerMsDefault = 300_000;

/**
 * Connects an account of Google: OAuth 2 for installed apps, with PKCE. The user allows the access in a browser, which comes
 * back to a port of this machine. The tokens are stored; the result has none.
 *
 * @example
 * const store = openConnectionStore("/home/ana/.local/share/troupe");
 * const client = await readGoogleClient({ env: process.env, file: null });
 * const { connection } = await connectGoogle({ store, client, showUrl: (url) => console.log(url) });
 */
export async function connectGoogle(options: ConnectGoogleOptions): Promise<ConnectedGoogle> {
  const { store, port = 0, answerMs = answerMsDefault, signal } = options;
  parseParams(ConnectionName, { account: options.name ?? null });
  await using loopback = await openLoopback(port);
  const oauth = await openClient(options, loopback.url);
  const state = randomBytes(stateBytes).toString("base64url");
  const { codeVerifier, codeChallenge = "" } = await oauth.generateCodeVerifierAsync();
  await options.showUrl(
    oauth.generateAuthUrl({
      ...{ access_type: "offline", prompt: "consent", scope: googleScopes.map(({ scope }) => scope), state },
      ...{ code_challenge: codeChallenge, code_challenge_method: "S256" as ChallengeMethod },
      ...(EmailAddress.safeParse(options.name).success ? { login_hint: options.name ?? "" } : {}),
    }),
  );
  const { params, reply } = await loopback.answer({ timeoutMs: answerMs, signal });
  try {
    const tokens = await exchangeCode(oauth, { code: codeOf(params, state), codeVerifier });
    const connected = await toConnection(options, tokens);
    await store.put(connected.connection, secretsOf(options, tokens));
    reply(`troupe is connected to ${connected.connection.account}. You can close this page.`);
    return { connection: StoredConnection.parse(connected.connection), missing: connected.missing };
  } catch (thrown) {
    reply("troupe is not connected. The terminal shows the reason. You can close this page.");
    throw thrown;
  }
}

const nameCharactersMax = 200;
const ConnectionName = z.object({ account: LineText.min(1).max(nameCharactersMax).nullable() });

const stateBytes = 32;

type OauthClient = Awaited<ReturnType<typeof openClient>>;
/** The SDK has an enum for it, which this package must not load before its first use. */
type ChallengeMethod = NonNullable<NonNullable<Parameters<OauthClient["generateAuthUrl"]>[0]>["code_challenge_method"]>;

async function openClient({ client, baseUrl = null, timeoutMs = timeoutMsDefault }: ConnectGoogleOptions, url: string) {
  const { OAuth2 } = await loadGoogle();
  return new OAuth2({
    ...{ clientId: client.id, clientSecret: client.secret, redirectUri: url },
    endpoints: oauthEndpoints(baseUrl),
    transporterOptions: requestOptions({ baseUrl: null, timeoutMs }),
  });
}

/** The code of the answer. An answer with another state does not come from the page that this command opened. */
function codeOf(params: URLSearchParams, state: string): string {
  const given = Buffer.from(params.get("state") ?? "");
  const expected = Buffer.from(state);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new ConnectorError("auth", "the answer of the browser has a wrong state: it belongs to another connection", {
      fix: "close old pages of Google, and run the command again",
    });
  }
  const error = params.get("error");
  if (error === "access_denied") {
    throw new ConnectorError("permission", "the access was denied on Google's page", {
      fix: "run the command again, and choose Allow",
    });
  }
  if (error !== null)
    throw new ConnectorError("auth", `Google answered with the error ${JSON.stringify(toLine(error, 100))}`);
  const code = params.get("code");
  if (code) return code;
  throw new ConnectorError("auth", "the answer of the browser has no code", { fix: "run the command again" });
}

async function exchangeCode(oauth: OauthClient, grant: { code: string; codeVerifier: string }): Promise<GoogleTokens> {
  try {
    return readTokens((await oauth.getToken(grant)).tokens);
  } catch (thrown) {
    throw toConnectorError(thrown, { what: "exchange the code for tokens", account: "ADDRESS" });
  }
}

const Identity = z.object({ email: EmailAddress, name: z.string().default("") });

/** The user of the tokens. The id token comes directly from Google, so its signature needs no check (OpenID Connect 3.1.3.7). */
function identityOf({ id_token = "" }: GoogleTokens): z.infer<typeof Identity> {
  try {
    return Identity.parse(JSON.parse(Buffer.from(id_token?.split(".")[1] ?? "", "base64url").toString()));
  } catch {
    throw new ConnectorError("auth", "Google did not tell the mail address of the account", {
      fix: "run the command again, and allow to see your mail address",
    });
  }
}

async function toConnection(options: ConnectGoogleOptions, tokens: GoogleTokens) {
  const { store, client, baseUrl = null, clock = systemClock() } = options;
  const { email, name } = identityOf(tokens);
  const scopes = tokens.scope ?? "";
  const domains = domainsOf(scopes);
  if (domains.length === 0) {
    throw new ConnectorError("permission", "neither mail, calendar nor contacts were allowed on Google's page", {
      fix: "run the command again, and allow at least one",
    });
  }
  const id = `google/${LineText.min(1)
    .max(nameCharactersMax)
    .parse(options.name ?? email)}`;
  await checkAccount(store, { id, email, name: options.name ?? null });
  const settings = {
    ...{ clientId: client.id, scopes, name: toLine(name, 200).replace(/[<>]/g, "") },
    tokenExpiresAt: new Date(tokens.expiry_date).toISOString(),
    ...(baseUrl === null ? {} : { baseUrl }),
  };
  const createdAt = new Date(clock.now()).toISOString();
  const connection = { id, kind: "google" as const, account: email, domains, createdAt, settings };
  return { connection, missing: missingScopes(scopes) };
}

/** Refuses another account under a name that the user gave to one: later mails would have another sender. */
async function checkAccount(
  store: ConnectionStore,
  { id, email, name }: { id: string; email: string; name: string | null },
) {
  const wanted = EmailAddress.safeParse(name);
  const known = (await store.get(id))?.connection.account ?? (wanted.success ? wanted.data : email);
  if (known === email) return;
  throw new ConnectorError("params", `${email} signed in, but ${id} is for ${known}`, {
    param: "account",
    fix: `sign in as ${known}, or use another name: ${connectCommand(email)}`,
  });
}

function secretsOf({ client }: ConnectGoogleOptions, { access_token, refresh_token }: GoogleTokens) {
  if (refresh_token) return { accessToken: access_token, refreshToken: refresh_token, clientSecret: client.secret };
  throw new ConnectorError("auth", "Google sent no refresh token, so the access would end within an hour", {
    fix: "remove troupe at https://myaccount.google.com/connections, then connect again",
  });
}

/**
 * Removes a connection, and tells Google that its tokens end. Returns false for `isRevoked` if Google could not be reached:
 * then the user can remove the access at https://myaccount.google.com/connections.
 *
 * @example
 * const { isRemoved, isRevoked } = await disconnectGoogle({ store, id: "google/ana@acme.example" });
 */
export async function disconnectGoogle({
  store,
  id,
  timeoutMs = timeoutMsDefault,
}: Pick<ConnectGoogleOptions, "store" | "timeoutMs"> & { id: string }): Promise<{
  isRemoved: boolean;
  isRevoked: boolean;
}> {
  const parsed = GoogleConnection.safeParse(await store.get(id));
  const isRevoked = parsed.success ? await revoke(parsed.data, timeoutMs) : false;
  return { isRemoved: await store.remove(id), isRevoked };
}

async function revoke({ settings, secrets }: GoogleConnection, timeoutMs: number): Promise<boolean> {
  const { OAuth2 } = await loadGoogle();
  const transporterOptions = requestOptions({ baseUrl: null, timeoutMs });
  const client = new OAuth2({ endpoints: oauthEndpoints(settings.baseUrl), transporterOptions });
  try {
    await client.revokeToken(secrets.refreshToken);
    return true;
  } catch (thrown) {
    // 400: Google does not know the token any more.
    return statusOf(thrown) === badRequest;
  }
}

const badRequest = 400;
