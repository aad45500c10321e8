import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { TroupeError } from "@troupe/core";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { matchedRoutes } from "hono/route";
import type { HttpEnv } from "./input.ts";

/** The paths of the login: of this version, and of the versions before. */
export const loginPaths: readonly string[] = ["/api/v1/login", "/api/login"];

/** Lets a request in with the daemon's token, or with the cookie that the login sets. */
export interface Auth {
  /** Sets the cookie if the token is right. Throws `UNAUTHORIZED` otherwise, and `LIMIT_REACHED` after many wrong ones. */
  logIn(context: Context<HttpEnv>, token: string): void;
  /** Refuses every request without token or cookie, except the login and the static shell. */
  middleware: MiddlewareHandler<HttpEnv>;
}

/**
 * Creates the authentication of the API. The cookie holds a secret derived from the token, so reading the cookie does
 * not reveal the token. The secret survives a restart, so an open page keeps working; a new token ends it. Cookie name
 * and secret include the port, because browsers share cookies among all ports of a host.
 */
export function createAuth(token: string, port: number): Auth {
  const cookieName = `troupe_${port}`;
  const secret = createHmac("sha256", token).update(cookieName).digest("base64url");
  const isToken = matcher(token);
  const isSecret = matcher(secret);
  const wrongTokens = createAllowance(wrongTokensMax, wrongTokenEveryMs);

  const isAuthorized = (context: Context<HttpEnv>): boolean => {
    const bearer = /^Bearer (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
    if (bearer !== undefined) return isToken(bearer);
    return isSecret(getCookie(context, cookieName) ?? "");
  };

  return {
    logIn(context, given) {
      // The right token always passes, so that no other program of the machine can lock the user out. A random token of
      // this length cannot be guessed; the limit saves the daemon the work.
      if (!isToken(given)) throw wrongTokens.take() ? unauthorized("the token is wrong") : tooManyWrongTokens();
      setCookie(context, cookieName, secret, { httpOnly: true, sameSite: "Strict", path: "/" });
    },
    middleware: async (context, next) => {
      if (!isOpen(context) && !isAuthorized(context)) {
        throw unauthorized(`${context.req.method} ${context.req.path} needs the daemon's token`);
      }
      await next();
    },
  };
}

const wrongTokensMax = 10;
const wrongTokenEveryMs = 6_000;

/** Allows `most` at once, and one more after each `everyMs`. */
function createAllowance(most: number, everyMs: number): { take(): boolean } {
  let left = most;
  let countedAtMs = performance.now();
  return {
    take() {
      const nowMs = performance.now();
      left = Math.min(most, left + (nowMs - countedAtMs) / everyMs);
      countedAtMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}

function tooManyWrongTokens(): TroupeError {
  const fix = `wait ${wrongTokenEveryMs / 1_000} seconds, and open the URL that \`troupe up\` prints`;
  return new TroupeError("LIMIT_REACHED", `more than ${wrongTokensMax} logins had a wrong token`, { fix });
}

/**
 * Whether a request needs no token: the login, and paths outside /api that no route matches, which get the shell. The
 * router decides, so a new route is closed until this function opens it.
 */
function isOpen(context: Context<HttpEnv>): boolean {
  const { method, path } = context.req;
  if (loginPaths.includes(path)) return method === "POST";
  return !path.startsWith("/api/") && matchedRoutes(context).every((route) => route.path === "/*");
}

/** Compares hashes, so that neither time nor length reveals how much of a guess was right. */
function matcher(expected: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expectedDigest = digest(expected);
  return (given) => timingSafeEqual(digest(given), expectedDigest);
}

function unauthorized(message: string): TroupeError {
  return new TroupeError("UNAUTHORIZED", message, {
    fix: "open the URL that `troupe up` prints; it includes the token",
  });
}
