import path from "node:path";
import {
  AgentDefinition,
  defaultPolicy,
  GrantLayer,
  type Ids,
  PartialBudget,
  SubmitSession,
  TroupeError,
} from "@troupe/core";
import { PartialLimits, SessionGrant, Token } from "@troupe/core/internal";
import { z } from "zod";
import type { HostDeps } from "../host/host-deps.ts";
import { redactDeps } from "../secrets/redact-ports.ts";

/** The ports that a team works over. A host in this or another process must serve the same queue and journal. */
export type TeamDeps = Pick<
  HostDeps,
  "journal" | "queue" | "bus" | "subjects" | "tools" | "agentSource" | "clock" | "logger" | "redact" | "locality"
>;

const ports = ["journal", "queue", "bus", "subjects", "tools", "agentSource", "clock", "logger"] as const;

const caps = PartialLimits.shape;
const temperature = z.number().min(0).max(2);
const model = z.string().min(1, "name a model as provider/model");

/** The checked options of a team, without its ports. */
const TeamSettings = z.object({
  model,
  temperature: temperature.nullish().transform((value) => value ?? null),
  workspace: z.string().refine((folder) => path.isAbsolute(folder), "use an absolute path"),
  allowHome: z.boolean().default(false),
  layers: z.array(GrantLayer).default([defaultPolicy.layer]),
  grant: SessionGrant.default({}),
  budget: PartialBudget.default({}),
  limits: PartialLimits.default({}),
  chain: z.array(Token).default([]),
});
export type TeamSettings = z.infer<typeof TeamSettings>;

export interface TeamOptions {
  deps: TeamDeps;
  /** Generates ids of sessions and runs. @default systemIds() */
  ids?: Ids;
  /** Model of every agent whose definition names none, as `provider/model`. */
  model: string;
  /** Temperature of every agent whose definition names none. @default the model's own */
  temperature?: number | null;
  /** Folder in which the agents work: an absolute path. */
  workspace: string;
  /** Allows a home, or a folder above one, as the workspace of a task. @default false */
  allowHome?: boolean;
  /**
   * Grant layers that apply to every task: this machine's policy, or the layers of the run that uses the team.
   * @default the policy that forbids nothing
   */
  layers?: readonly GrantLayer[];
  /** Restricts all tasks. Its `agents` lists the agents that this team can ask. @default no restriction */
  grant?: SessionGrant;
  /** The budget of all tasks together. Each task reserves a share and releases the unused part. @default no limit */
  budget?: PartialBudget;
  /** Lowers the limits of every task. @default the limits of each agent */
  limits?: z.input<typeof PartialLimits>;
  /** The agents above this team, from the root down. The team cannot ask them again. @default [] */
  chain?: readonly string[];
}

/** The options of one task. They can only restrict the grant of the team. */
export const SpawnOptions = z
  .strictObject({
    /** Tools and tool groups that the task may use. @default those of the agent's definition */
    tools: z.array(z.string()),
    /** The most tool calls. @default the definition's */
    maxToolCalls: caps.maxToolCalls.unwrap(),
    /** The longest conversation, in tokens. @default the definition's */
    maxContextTokens: caps.maxContextTokens.unwrap().unwrap(),
    /** The longest duration. @default the definition's, else five minutes */
    timeoutMs: caps.maxDurationMs.unwrap(),
    /** The budget of the task and all runs below it. @default its share of the team's */
    budget: PartialBudget,
    /** Whether the agent may ask the agents that its definition names. @default false */
    delegates: z.boolean(),
    /** JSON Schema of the answer. @default the definition's */
    outputSchema: AgentDefinition.shape.outputSchema.unwrap().unwrap(),
    /** When the task counts as done, in words for the agent. */
    successCriteria: z.string().trim().min(1),
    /** Further information for the agent. */
    context: z.string(),
    /** Folder in which the agent works: an absolute path. @default the team's */
    workspace: z.string(),
    /** For an agent whose definition names none. @default the team's */
    model,
    /** For an agent whose definition names none. @default the team's */
    temperature,
    /** Cancels the task when it aborts. */
    signal: z.instanceof(AbortSignal),
  })
  .partial();
export type SpawnOptions = z.input<typeof SpawnOptions>;
/** The options after the check, with all durations in milliseconds. */
export type CheckedSpawnOptions = z.output<typeof SpawnOptions>;

/** One task of a fan-out. */
export interface TeamTask extends SpawnOptions {
  agent: string;
  task: string;
}

/** Checks the options of a team. Throws `USAGE` for invalid ones. */
export function checkTeamOptions(options: TeamOptions): { deps: TeamDeps; settings: TeamSettings } {
  const { deps } = options;
  const missing = ports.filter((port) => !deps?.[port]);
  if (missing.length > 0) {
    throw new TroupeError("USAGE", `a team needs all ports in deps; missing: ${missing.join(", ")}`, {
      fix: "create them with createEmbeddedHost of troupe/internal",
    });
  }
  return { deps: redactDeps(deps), settings: parse(TeamSettings, options, "the team's") };
}

/** Checks one task and its options. Throws `USAGE` for invalid ones. */
export function checkSpawn(given: { task: string; options: SpawnOptions }): {
  task: string;
  options: CheckedSpawnOptions;
} {
  return parse(z.object({ task: SubmitSession.shape.task, options: SpawnOptions }), given, "the task's");
}

export function checkMaxConcurrent(maxConcurrent: number): void {
  if (Number.isInteger(maxConcurrent) && maxConcurrent >= 1) return;
  throw new TroupeError("USAGE", `maxConcurrent is ${maxConcurrent}, which is not a whole number of at least 1`, {
    fix: "set it to the number of tasks that may run at once, or omit it for 3",
  });
}

function parse<S extends z.ZodType>(schema: S, value: unknown, whose: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.filter((step) => step !== "options").join(".") || "options";
  throw new TroupeError(
    "USAGE",
    `${whose} ${field} cannot be used: ${issue?.message ?? "it does not fit its schema"}`,
    {
      fix: `see the options of ${whose === "the team's" ? "createTeam" : "spawn"} in the README of troupe`,
    },
  );
}
