import type { z } from "zod";
import type { CatalogModel } from "./catalog.ts";
import { Refusal } from "./refusal.ts";
import { type SchemaProblem, schemaProblemOf } from "./schema-problem.ts";
import type { WireContext, WireRequest } from "./wire.ts";

/** `messages[0].content`, as OpenAI names a place in a body. */
export function paramPathOf(path: readonly (string | number)[]): string {
  return path.map((key, i) => (typeof key === "number" ? `[${key}]` : i === 0 ? key : `.${key}`)).join("");
}

/** A body by its schema, or the vendor's refusal with place and code. */
export function parseOpenAi<Body>(schema: z.ZodType<Body>, body: unknown): Body {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw refusalOf(schemaProblemOf(parsed.error, body));
}

function refusalOf({ path, kind, issue }: SchemaProblem): Refusal {
  const param = paramPathOf(path);
  if (path.length === 0) return new Refusal(400, "Invalid body: failed to parse JSON value. Expected an object.");
  if (kind === "missing")
    return refusal(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
  if (kind === "unknown") return refusal(`Unknown parameter: '${param}'.`, param, "unknown_parameter");
  switch (issue.code) {
    case "invalid_type":
      return refusal(`Invalid type for '${param}': expected ${issue.expected}.`, param, "invalid_type");
    case "invalid_union":
      // The value matches no alternative. With a discriminator, the error inside the chosen alternative is reported
      // instead.
      if (issue.discriminator !== undefined) break;
      return refusal(`Invalid type for '${param}'.`, param, "invalid_type");
    case "too_small":
      return issue.origin === "array"
        ? refusal(
            `Invalid '${param}': empty array. Expected an array with minimum length ${issue.minimum}.`,
            param,
            "empty_array",
          )
        : refusal(
            `Invalid '${param}': integer below minimum value. Expected a value >= ${issue.minimum}.`,
            param,
            "integer_below_min_value",
          );
    case "too_big":
      return issue.origin === "array"
        ? refusal(
            `Invalid '${param}': array too long. Expected at most ${issue.maximum}.`,
            param,
            "array_above_max_length",
          )
        : refusal(
            `Invalid '${param}': too long. Expected at most ${issue.maximum}.`,
            param,
            `${issue.origin}_above_max_length`,
          );
    case "invalid_format":
      return refusal(
        `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${issue.pattern}'.`,
        param,
        "invalid_value",
      );
    default:
  }
  return refusal(`Invalid value for '${param}': ${issue.message}`, param, "invalid_value");
}

export function refusal(message: string, param: string | null = null, code: string | null = null): Refusal {
  return new Refusal(400, message, { param, code });
}

/** Both of the vendor's wires say an error in the same way. */
export function openAiError({ status, code, message, param }: Refusal) {
  return { error: { message, type: typeOf(status, code), param, code: code ?? codes[status] ?? null } };
}

const codes: Record<number, string> = { 401: "invalid_api_key", 429: "rate_limit_exceeded" };

function typeOf(status: number, code: string | null): string {
  if (code === "insufficient_quota") return code;
  if (status === 429) return "requests";
  return status < 500 ? "invalid_request_error" : "server_error";
}

/** The model, if it is there and the conversation fits into it. */
export function modelOf({ model, promptTokens }: WireRequest, context: WireContext, param: string): CatalogModel {
  const known = context.catalog.find(model);
  if (!known) {
    const message = `The model \`${model}\` does not exist or you do not have access to it.`;
    throw new Refusal(404, message, { code: "model_not_found" });
  }
  const most = context.contextTokens ?? known.contextTokens;
  if (promptTokens <= most) return known;
  throw refusal(
    `This model's maximum context length is ${most} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`,
    param,
    "context_length_exceeded",
  );
}
