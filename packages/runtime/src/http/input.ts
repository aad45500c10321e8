import type { HttpBindings } from "@hono/node-server";
import { TroupeError } from "@troupe/core";
import { decodeText } from "@troupe/core/internal";
import type { Context } from "hono";
import type { z } from "zod";
import { apiPath } from "./contract/api-path.ts";
import { type ParamKind, paramKinds } from "./contract/param-kinds.ts";

/** Gives handlers Node's own request and response, next to hono's. */
export interface HttpEnv {
  Bindings: HttpBindings;
}

/** The largest body of a route that names no other limit. */
export const bodyBytesMaxDefault: number = 1024 * 1024;

/** Parses the body of a request. A body that does not fit fails with `USAGE` or `TOO_LARGE`. */
export async function readBody<S extends z.ZodType>(
  context: Context<HttpEnv>,
  schema: S,
  { bodyBytesMax = bodyBytesMaxDefault }: { bodyBytesMax?: number } = {},
): Promise<z.output<S>> {
  const text = await readText(context, bodyBytesMax);
  try {
    return decodeText(schema, text === "" ? "{}" : text, "the body");
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    const fix = `correct the body; ${apiPath}/openapi.json describes it`;
    throw new TroupeError("USAGE", error.message, { cause: error, fix });
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

/** Reads the query. A name that occurs twice, or that the schema does not have, is an error if `strict` is set. */
export function readQuery(context: Context<HttpEnv>, schema: z.ZodObject | undefined, strict: boolean): unknown {
  const given = context.req.queries();
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema?.shape ?? {};
  if (strict) checkNames(given, Object.keys(shape));
  const fields = Object.entries(shape).map(([name, field]) => [
    name,
    readField(name, field as z.ZodType, given[name]?.[0]),
  ]);
  return schema && Object.fromEntries(fields);
}

function checkNames(given: Record<string, string[]>, known: readonly string[]): void {
  for (const [name, values] of Object.entries(given)) {
    if (!known.includes(name)) {
      const fix = known.length === 0 ? "remove the query: this path has none" : `use only ${known.join(", ")}`;
      throw new TroupeError("USAGE", `the query has the unknown name ${JSON.stringify(name)}`, { fix });
    }
    if (values.length > 1) {
      throw new TroupeError("USAGE", `the query has ${name} ${values.length} times`, { fix: `send ${name} once` });
    }
  }
}

/** A text that the schema refuses is tried as a whole number. */
function readField(name: string, schema: z.ZodType, text: string | undefined): unknown {
  const asText = schema.safeParse(text);
  if (asText.success) return asText.data;
  const asNumber = /^\d{1,16}$/.test(text ?? "") ? schema.safeParse(Number(text)) : asText;
  if (asNumber.success) return asNumber.data;
  const message = text === undefined ? `the query has no ${name}` : `${name} is ${JSON.stringify(text)}`;
  throw new TroupeError("USAGE", message, { fix: asNumber.error.issues[0]?.message ?? "see the API's document" });
}

/** Reads a parameter of the path. */
export function readParam(context: Context<HttpEnv>, name: string, kind: ParamKind): string {
  const { schema, error } = paramKinds[kind];
  const parsed = schema.safeParse(context.req.param(name));
  if (parsed.success) return parsed.data;
  throw error(context.req.param(name) ?? "");
}
