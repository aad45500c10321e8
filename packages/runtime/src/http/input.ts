import { TroupeError } from "@troupe/core";
import { decodeText, Id } from "@troupe/core/internal";
import type { Context } from "hono";
import type { z } from "zod";
import { unknown } from "../service/unknown.ts";
import type { HttpEnv } from "./env.ts";

const bodyBytesMax = 1024 * 1024;

/** The parsed body of a request. What does not fit is the caller's mistake: `USAGE`, or `TOO_LARGE`. */
export async function readBody<S extends z.ZodType>(context: Context<HttpEnv>, schema: S): Promise<z.output<S>> {
  const text = await readText(context);
  try {
    return decodeText(schema, text === "" ? "{}" : text, "the body");
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    throw new TroupeError("USAGE", error.message, { cause: error });
  }
}

/** Counts while it reads, since a length that is announced need not be true, or be there at all. */
async function readText(context: Context<HttpEnv>): Promise<string> {
  const { incoming } = context.env;
  const tooLarge = (): TroupeError =>
    new TroupeError("TOO_LARGE", `the body is over ${bodyBytesMax} bytes`, { fix: "send less" });
  if (Number(context.req.header("content-length") ?? 0) > bodyBytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Destroying the request on the way out would take the connection with it, and the answer too.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** A whole number from the query, within bounds. */
export function readNumber(
  context: Context<HttpEnv>,
  name: string,
  { otherwise, min, max }: { otherwise: number; min: number; max: number },
): number {
  const text = context.req.query(name);
  return text === undefined ? otherwise : wholeNumber(name, text, min, max);
}

/** Which changes are wanted: so many, after the one of that id. */
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
    fix: `give a whole number, ${min} to ${max}`,
  });
}

/** The id in the path. What is no id cannot be known either. */
export function readId(context: Context<HttpEnv>, name: string, what: Parameters<typeof unknown>[0]): string {
  const id = context.req.param(name) ?? "";
  if (Id.safeParse(id).success) return id;
  throw unknown(what, id);
}
