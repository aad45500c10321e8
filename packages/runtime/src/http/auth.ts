import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { TroupeError } from "@troupe/core";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { matchedRoutes } from "hono/route";
import type { HttpEnv } from "./env.ts";

export const loginPath = "/api/login";

/** Whoever may come in: with the daemon's token, or with the cookie that the token bought. */
export interface Auth {
  /** Trades the token for a cookie, or throws `UNAUTHORIZED`. */
  logIn(context: Context<HttpEnv>, token: string): void;
  /** Lets nothing through without proof but the login and the static shell. */
  middleware: MiddlewareHandler<HttpEnv>;
}

/**
 * The cookie holds a secret derived from the token, never the token: reading it gives nobody the token. It is the same
 * after a restart, so that a page which was open when the daemon died goes on by itself. A new token ends it. Name and
 * secret carry the port, since browsers share cookies among all ports of a host.
 */
export function createAuth(token: string, port: number): Auth {
  const cookieName = `troupe_${port}`;
  const secret = createHmac("sha256", token).update(cookieName).digest("base64url");
  const isToken = matcher(token);
  const isSecret = matcher(secret);

  const hasProof = (context: Context<HttpEnv>): boolean => {
    const bearer = /^Bearer (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
    if (bearer !== undefined) return isToken(bearer);
    return isSecret(getCookie(context, cookieName) ?? "");
  };

  return {
    logIn(context, given) {
      if (!isToken(given)) throw unauthorized("this token is not the daemon's");
      setCookie(context, cookieName, secret, { httpOnly: true, sameSite: "Strict", path: "/" });
    },
    middleware: async (context, next) => {
      if (!isOpen(context) && !hasProof(context)) {
        throw unauthorized(`${context.req.method} ${context.req.path} needs the daemon's token`);
      }
      await next();
    },
  };
}

/**
 * A path outside /api that no route answers is the shell's. Deciding by the routes themselves means that a route which
 * somebody adds is closed until this function says otherwise.
 */
function isOpen(context: Context<HttpEnv>): boolean {
  const { method, path } = context.req;
  if (path === loginPath) return method === "POST";
  return !path.startsWith("/api/") && matchedRoutes(context).every((route) => route.path === "/*");
}

/** Compares hashes, so that neither time nor length tells how much of a guess was right. */
function matcher(expected: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const wanted = digest(expected);
  return (given) => timingSafeEqual(digest(given), wanted);
}

function unauthorized(message: string): TroupeError {
  return new TroupeError("UNAUTHORIZED", message, { fix: "open the address that `troupe up` prints, token included" });
}
