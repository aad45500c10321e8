import { type ErrorCode, TroupeError } from "@troupe/core";
import { Id, Token, unknownAgent } from "@troupe/core/internal";
import { z } from "zod";
import { notFound } from "../../service/lookup.ts";

interface Kind {
  schema: z.ZodType<string>;
  description: string;
  /** The code of the error for an unknown value. */
  code: ErrorCode;
  error(value: string): TroupeError;
}

/** Kinds of parameters in a path. A value that the schema refuses gets the same error as an unknown one. */
export const paramKinds = {
  session: idOf("session", "UNKNOWN_SESSION"),
  run: idOf("run", "UNKNOWN_RUN"),
  approval: idOf("approval", "UNKNOWN_APPROVAL"),
  rule: idOf("rule", "UNKNOWN_RULE"),
  host: { ...idOf("host", "UNKNOWN_HOST"), schema: Token, description: "The name of a host." },
  agent: {
    schema: Token,
    description: "The id of an agent.",
    code: "UNKNOWN_AGENT",
    error: (value) => unknownAgent(value, []),
  },
  prefix: {
    schema: z.string().regex(/^[\dA-Fa-f-]{1,36}$/),
    description: "The beginning of an id.",
    code: "USAGE",
    error: (value) =>
      new TroupeError("USAGE", `no id begins with ${JSON.stringify(value)}`, {
        fix: "use 1 to 36 hexadecimal digits and hyphens",
      }),
  },
  webhook: {
    schema: Id,
    description: "The id of a webhook.",
    code: "UNKNOWN_WEBHOOK",
    error: (value) =>
      new TroupeError("UNKNOWN_WEBHOOK", `there is no webhook ${JSON.stringify(value)}`, { fix: "troupe webhooks ls" }),
  },
} as const satisfies Record<string, Kind>;

export type ParamKind = keyof typeof paramKinds;

function idOf(what: Parameters<typeof notFound>[0], code: ErrorCode): Kind {
  return { schema: Id, description: `The id of a ${what}.`, code, error: (value) => notFound(what, value) };
}
