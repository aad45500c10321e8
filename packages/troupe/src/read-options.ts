import { PartialBudget, SubmitSession, TroupeError } from "@troupe/core";
import { didYouMean, durationSchema, TeamName } from "@troupe/core/internal";
import { z } from "zod";
import type { CheckedOptions, CheckedRunOptions, RunOptions, TroupeOptions } from "./options.ts";

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
const isFunction = (value: unknown): boolean => typeof value === "function";

const TroupeOptionsSchema = z
  .strictObject({
    model: z.string().min(1),
    agents: z.array(z.union([z.string().min(1), z.looseObject({ id: z.string() })])),
    team: TeamName,
    teams: z.array(z.string().min(1)),
    tools: z.array(z.custom((tool) => isObject(tool) && "spec" in (tool as object), "it is not a tool of defineTool")),
    connectors: z.custom(isObject, "it is not an object with mail, calendar, contacts or channels"),
    handlers: z.array(
      z.custom((value) => isObject(value) && "assess" in (value as object), "it is not a RequestHandler"),
    ),
    workspace: z.string().min(1),
    allowHome: z.boolean(),
    store: z.enum(["home", "memory"]),
    home: z.string().min(1),
    nats: z
      .strictObject({
        url: z.string().min(1),
        context: z.union([z.string().min(1), z.literal(true)]),
        namespace: z.string().min(1),
        locality: z.string().min(1),
        leaseMs: durationSchema(z.int().min(500).max(600_000)),
      })
      .partial(),
    http: z.union([z.boolean(), z.strictObject({ port: z.int().min(0).max(65_535).optional() })]),
    providers: z.array(
      z.custom((value) => isObject(value) && "call" in (value as object), "it is not a ModelProvider"),
    ),
    budget: PartialBudget,
    capacity: z.int().min(1),
    onApproval: z.custom(isFunction, "it is not a function"),
    logger: z.custom(isObject, "it is not a logger"),
    env: z.record(z.string(), z.string().optional()),
  })
  .partial();

const { shape } = SubmitSession;
const RunOptionsSchema = z
  .strictObject({
    agent: shape.agent,
    team: shape.team,
    model: shape.model,
    workspace: shape.workspace,
    allowHome: shape.allowHome,
    context: shape.context,
    continues: shape.continues,
    session: shape.session,
    budget: shape.budget,
    limits: shape.limits,
    grant: shape.grant,
    timeoutMs: shape.timeoutMs,
    userId: shape.userId,
    signal: z.instanceof(AbortSignal),
    onEvent: z.custom(isFunction, "it is not a function"),
  })
  .partial();

/** Throws `USAGE` for an unknown option, naming the nearest known one, and for a value that does not fit. */
export function readOptions(options: TroupeOptions): CheckedOptions {
  return read(TroupeOptionsSchema, options, "createTroupe") as CheckedOptions;
}

export function readRunOptions(options: RunOptions): CheckedRunOptions {
  return read(RunOptionsSchema, options, "run") as CheckedRunOptions;
}

function read(schema: z.ZodObject, options: object, name: string): object {
  const given = Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
  const parsed = schema.safeParse(given);
  // The parsed copy has zod's defaults in nested values; functions and class instances stay the same objects.
  if (parsed.success) return { ...given, ...parsed.data };
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") throw unknownOption(schema, issue.path, issue.keys[0] ?? "", name);
  const field = issue?.path.join(".") ?? "";
  throw new TroupeError("USAGE", `${name}: the option ${field} does not fit: ${issue?.message ?? "invalid"}`, {
    fix: `see the options of ${name} in the README of troupe`,
  });
}

function unknownOption(schema: z.ZodObject, path: readonly PropertyKey[], key: string, name: string): TroupeError {
  const nested = path.length === 0 ? schema : innermost(schema.shape[String(path[0])]);
  const known = nested instanceof z.ZodObject ? Object.keys(nested.shape) : [];
  const full = [...path.map(String), key].join(".");
  return new TroupeError("USAGE", `${name} has no option ${JSON.stringify(full)}`, {
    fix: didYouMean(key, known) ?? `the options are: ${known.join(", ")}`,
  });
}

function innermost(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional) return innermost(schema.unwrap());
  return schema;
}
