import type { HttpBindings } from "@hono/node-server";
import { TroupeError } from "@troupe/core";
import { decodeText, Id, parseDuration } from "@troupe/core/internal";
import type { Context } from "hono";
import type { z } from "zod";
import { notFound } from "../service/lookup.ts";

/** Gives handlers Node's own request and response, next to hono's. */
export interface HttpEnv {
  Bindings: HttpBindings;
}

const bodyBytesMax = 1024 * 1024;

/** Parses the body of a request. A body that does not fit fails with `USAGE` or `TOO_LARGE`. */
export async function readBody<S extends z.ZodType>(
  context: Context<HttpEnv>,
  schema: S,
  { bytesMax = bodyBytesMax }: { bytesMax?: number } = {},
): Promise<z.output<S>> {
  const text = await readText(context, bytesMax);
  try {
    return decodeText(schema, text === "" ? "{}" : text, "the body");
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    throw new TroupeError("USAGE", error.message, { cause: error });
  }
}

/** Counts bytes while it reads: the content-length header can be wrong or missing. */
async function readText(context: Context<HttpEnv>, bytesMax: number): Promise<string> {
  const { incoming } = context.env;
  const tooLarge = (): TroupeError =>
    new TroupeError("TOO_LARGE", `the body is over ${bytesMax} bytes`, { fix: "send a smaller body" });
  if (Number(context.req.header("content-length") ?? 0) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Destroying the request on an early return would close the connection before the reply is sent.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads a whole number from the query. */
export function readNumber(
  context: Context<HttpEnv>,
  name: string,
  { otherwise, min, max }: { otherwise: number; min: number; max: number },
): number {
  const text = context.req.query(name);
  return text === undefined ? otherwise : wholeNumber(name, text, min, max);
}

/** Reads a duration from the query, in milliseconds. */
export function readDuration(
  context: Context<HttpEnv>,
  name: string,
  { otherwise, min, max }: { otherwise: number; min: number; max: number },
): number {
  const text = context.req.query(name);
  if (text === undefined) return otherwise;
  const value = parseDuration(text);
  if (value !== null && value >= min && value <= max) return value;
  throw new TroupeError("USAGE", `${name} is ${JSON.stringify(text)}`, {
    fix: `use a duration such as 30d or 12h, from ${min} to ${max} milliseconds`,
  });
}

/** Reads the query of a page of changes: at most `limit` changes, after the change with the id `after`. */
export function readChangePage(context: Context<HttpEnv>): { after: number; limit: number } {
  return {
    after: readNumber(context, "after", { otherwise: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
    limit: readNumber(context, "limit", { otherwise: 100, min: 1, max: 1_000 }),
  };
}

export function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new TroupeError("USAGE", `${name} is ${JSON.stringify(text)}`, {
    fix: `use a whole number from ${min} to ${max}`,
  });
}

/** Reads the id in the path. A malformed id gets the same error as an unknown one. */
export function readId(context: Context<HttpEnv>, name: string, what: Parameters<typeof notFound>[0]): string {
  const id = context.req.param(name) ?? "";
  if (Id.safeParse(id).success) return id;
  throw notFound(what, id);
}
