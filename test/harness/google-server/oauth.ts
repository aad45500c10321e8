import { createHash, randomBytes } from "node:crypto";
import type { GoogleReply } from "./google-reply.ts";
import { ok } from "./google-reply.ts";

/** The answer of the user on the page of the consent. */
export interface Consent {
  email: string;
  name: string;
  /** Null: the user denies. "all", or the allowed scopes. */
  scopes: "all" | readonly string[] | null;
}

interface Grant {
  email: string;
  name: string;
  scope: string;
}

export interface OauthServer {
  readonly client: { id: string; secret: string };
  /** The next visits of the page act like this. */
  consent: Consent;
  /** Google replaces the refresh token at each refresh, and accepts the old one no more. */
  rotates: boolean;
  expiresInS: number;
  refreshCount: number;
  /** The URL to which the page sends the browser. */
  authorize(query: URLSearchParams): string | GoogleReply;
  token(form: URLSearchParams): GoogleReply;
  revoke(token: string): GoogleReply;
  /** The account and scopes of an access token. Null: 401. */
  check(accessToken: string): Grant | null;
  /** Makes all access tokens invalid, as time does. */
  expireAccess(): void;
  /** The user removes the access in the settings of the account. */
  revokeAll(): void;
}

const refused = (error: string, error_description: string): GoogleReply => ({
  status: error === "invalid_client" ? 401 : 400,
  body: { error, error_description },
});

export function createOauthServer(): OauthServer {
  const codes = new Map<string, Grant & { challenge: string; redirectUri: string }>();
  const access = new Map<string, Grant>();
  const refresh = new Map<string, Grant>();
  const issue = (prefix: string): string => `${prefix}${randomBytes(24).toString("base64url")}`;

  const answer = (grant: Grant, server: OauthServer, refreshToken: string | null): GoogleReply => {
    const accessToken = issue("ya29.");
    access.set(accessToken, grant);
    return ok({
      access_token: accessToken,
      expires_in: server.expiresInS,
      scope: grant.scope,
      token_type: "Bearer",
      id_token: idToken(grant),
      ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
    });
  };

  const exchange = (form: URLSearchParams, server: OauthServer): GoogleReply => {
    const code = form.get("code") ?? "";
    const grant = codes.get(code);
    codes.delete(code);
    if (!grant || grant.redirectUri !== form.get("redirect_uri"))
      return refused("invalid_grant", "Malformed auth code.");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (challenge !== grant.challenge) return refused("invalid_grant", "Invalid code verifier.");
    const refreshToken = issue("1//");
    const { email, name, scope } = grant;
    refresh.set(refreshToken, { email, name, scope });
    return answer({ email, name, scope }, server, refreshToken);
  };

  const renew = (form: URLSearchParams, server: OauthServer): GoogleReply => {
    server.refreshCount += 1;
    const given = form.get("refresh_token") ?? "";
    const grant = refresh.get(given);
    if (!grant) return refused("invalid_grant", "Token has been expired or revoked.");
    if (!server.rotates) return answer(grant, server, null);
    const next = issue("1//");
    refresh.delete(given);
    refresh.set(next, grant);
    return answer(grant, server, next);
  };

  return {
    client: { id: "client-1.apps.googleusercontent.com", secret: issue("GOCSPX-") },
    consent: { email: "me@acme.example", name: "Me", scopes: "all" },
    rotates: true,
    expiresInS: 3_599,
    refreshCount: 0,
    authorize(query) {
      const redirectUri = query.get("redirect_uri") ?? "";
      if (query.get("client_id") !== this.client.id)
        return refused("invalid_client", "The OAuth client was not found.");
      if (!/^http:\/\/127\.0\.0\.1:\d+\//.test(redirectUri)) return refused("redirect_uri_mismatch", redirectUri);
      if (query.get("response_type") !== "code" || query.get("code_challenge_method") !== "S256") {
        return refused("invalid_request", "Missing required parameter");
      }
      const back = new URL(redirectUri);
      back.searchParams.set("state", query.get("state") ?? "");
      const { email, name, scopes } = this.consent;
      if (scopes === null) {
        back.searchParams.set("error", "access_denied");
        return back.href;
      }
      const code = issue("4/");
      const scope = scopes === "all" ? (query.get("scope") ?? "") : scopes.join(" ");
      codes.set(code, { email, name, scope, challenge: query.get("code_challenge") ?? "", redirectUri });
      back.searchParams.set("code", code);
      back.searchParams.set("scope", scope);
      return back.href;
    },
    token(form) {
      if (form.get("client_id") !== this.client.id || form.get("client_secret") !== this.client.secret) {
        return refused("invalid_client", "The OAuth client was not found.");
      }
      if (form.get("grant_type") === "authorization_code") return exchange(form, this);
      return form.get("grant_type") === "refresh_token" ? renew(form, this) : refused("unsupported_grant_type", "");
    },
    revoke(token) {
      return refresh.delete(token) || access.delete(token)
        ? ok({})
        : refused("invalid_token", "Token expired or revoked");
    },
    check: (token) => access.get(token) ?? null,
    expireAccess: () => access.clear(),
    revokeAll() {
      access.clear();
      refresh.clear();
    },
  };
}

function idToken({ email, name }: Grant): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256" })}.${part({ iss: "https://accounts.google.com", email, email_verified: true, name })}.c2ln`;
}
