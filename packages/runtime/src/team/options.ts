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

/** The ports that a team works over. A host has to serve them: in this process, or in any other. */
export type TeamDeps = Pick<
  HostDeps,
  "journal" | "queue" | "bus" | "subjects" | "tools" | "agentSource" | "clock" | "logger" | "redact" | "place"
>;

const ports = ["journal", "queue", "bus", "subjects", "tools", "agentSource", "clock", "logger"] as const;

const caps = PartialLimits.shape;
const temperature = z.number().min(0).max(2);
const model = z.string().min(1, "name a model: provider/model");

/** What holds for every task of a team, besides the world that it works in. */
const TeamSettings = z.object({
  model,
  temperature: temperature.nullish().transform((value) => value ?? null),
  workspace: z.string().refine((folder) => path.isAbsolute(folder), "an absolute path is needed"),
  layers: z.array(GrantLayer).default([defaultPolicy.layer]),
  grant: SessionGrant.default({}),
  budget: PartialBudget.default({}),
  limits: PartialLimits.default({}),
  chain: z.array(Token).default([]),
});
export type TeamSettings = z.infer<typeof TeamSettings>;

export interface TeamOptions {
  deps: TeamDeps;
  /** Where ids of sessions and runs come from. @default systemIds() */
  ids?: Ids;
  /** Model of every agent whose definition names none: `provider/model`. */
  model: string;
  /** Temperature of every agent whose definition names none. @default the model's own */
  temperature?: number | null;
  /** Folder in which the agents work: an absolute path. */
  workspace: string;
  /**
   * What was said so far about what may be used: this machine's policy, or all that holds where the team itself was
   * asked for. @default the policy that forbids nothing
   */
  layers?: readonly GrantLayer[];
  /** Narrows what all tasks together may use: its `agents` are those that this team can ask. @default nothing more */
  grant?: SessionGrant;
  /** What all tasks together may use. Each gets a share, and gives back what it does not need. @default no limit */
  budget?: PartialBudget;
  /** Tightens the caps of every task. @default nothing more */
  limits?: PartialLimits;
  /** Agents above this team, from the root down: none of them can be asked again. @default [] */
  chain?: readonly string[];
}

/** How one task differs from what holds for its whole team. What it may use can only be less. */
export const SpawnOptions = z
  .strictObject({
    /** Tools, or groups of them, that may be used. @default whatever the agent's definition says */
    tools: z.array(z.string()),
    /** @default the definition's */
    maxToolCalls: caps.maxToolCalls.unwrap(),
    /** The longest that its conversation may become. @default the definition's */
    maxContextTokens: caps.maxContextTokens.unwrap().unwrap(),
    /** @default the definition's, else five minutes */
    timeoutMs: caps.maxDurationMs.unwrap(),
    /** What it, and all below it, may use. @default its share of the team's */
    budget: PartialBudget,
    /** Whether it may ask further agents: those that its definition names. @default false */
    delegates: z.boolean(),
    /** JSON Schema that its answer has to fit. @default the definition's */
    outputSchema: AgentDefinition.shape.outputSchema.unwrap().unwrap(),
    /** When it counts as done. */
    successCriteria: z.string().trim().min(1),
    /** What it is to know besides its task. */
    context: z.string(),
    /** @default the team's */
    workspace: z.string(),
    /** For an agent whose definition names none. @default the team's */
    model,
    /** For an agent whose definition names none. @default the team's */
    temperature,
    /** Cancels the task when it aborts. */
    signal: z.instanceof(AbortSignal),
  })
  .partial();
export type SpawnOptions = z.infer<typeof SpawnOptions>;

/** One task of a fan-out. */
export interface TeamTask extends SpawnOptions {
  agent: string;
  task: string;
}

/** What holds for a whole team. Throws `USAGE` for what no team can be made of. */
export function readTeam(options: TeamOptions): { deps: TeamDeps; settings: TeamSettings } {
  const { deps } = options;
  const missing = ports.filter((port) => !deps?.[port]);
  if (missing.length > 0) {
    throw new TroupeError("USAGE", `a team needs a world; this one has no ${missing.join(", no ")}`, {
      fix: "make one with createEmbeddedHost",
    });
  }
  return { deps: redactDeps(deps), settings: parsed(TeamSettings, options, "the team's") };
}

/** Of one task. Throws `USAGE` for what cannot be asked. */
export function readSpawn(asked: { task: string; options: SpawnOptions }): { task: string; options: SpawnOptions } {
  return parsed(z.object({ task: SubmitSession.shape.task, options: SpawnOptions }), asked, "the task's");
}

export function checkMaxConcurrent(maxConcurrent: number): void {
  if (Number.isInteger(maxConcurrent) && maxConcurrent >= 1) return;
  throw new TroupeError("USAGE", `maxConcurrent is ${maxConcurrent}, which is not a whole number from 1 on`, {
    fix: "say how many tasks may run at once, or leave it out for 3",
  });
}

function parsed<S extends z.ZodType>(schema: S, value: unknown, whose: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.filter((step) => step !== "options").join(".") || "options";
  throw new TroupeError("USAGE", `${whose} ${field} cannot be used: ${issue?.message ?? "it does not fit"}`, {
    fix: `see the options of ${whose === "the team's" ? "createTeam" : "spawn"} in the README of troupe`,
  });
}
