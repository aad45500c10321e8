import { z } from "zod";
import type { AgentDefinition } from "./agent.ts";
import { Token } from "./ids.ts";

/** Name of a team. It has no `_`, so the first one in an agent's id ends the team's name. */
export const TeamName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "a name of at most 40 small letters, digits and -, such as code-review");
export type TeamName = z.infer<typeof TeamName>;

/**
 * The name of an agent as people write it, read as an id.
 *
 * @example
 * AgentName.parse("coding/planner"); // "coding_planner"
 */
export const AgentName = z.string().overwrite(agentIdOf).pipe(Token);

/**
 * A team as others see it. Its agents have ids such as `coding_planner`, shown as `coding/planner`.
 *
 * @example
 * const source = { origin: "builtin", path: "/teams/coding/team.yaml" };
 * TeamSummary.parse({ name: "coding", description: "Writes code", entry: "coding_main", agents: ["coding_main"], ...source });
 */
export const TeamSummary = z.object({
  name: TeamName,
  description: z.string(),
  /** Id of the agent that receives the request. */
  entry: Token,
  /** Ids of its agents. */
  agents: z.array(Token),
  origin: z.string(),
  /** The file that defines it. */
  path: z.string(),
});
export type TeamSummary = z.infer<typeof TeamSummary>;

/**
 * The id of an agent of a team.
 *
 * @example
 * teamAgentId("coding", "planner"); // "coding_planner"
 */
export function teamAgentId(team: string, agent: string): string {
  return `${team}_${agent}`;
}

/**
 * The name of an agent for people.
 *
 * @example
 * agentNameOf({ id: "coding_planner", team: "coding" }); // "coding/planner"
 * agentNameOf({ id: "planner" }); // "planner"
 */
export function agentNameOf({ id, team }: Pick<AgentDefinition, "id" | "team">): string {
  return team !== undefined && id.startsWith(`${team}_`) ? `${team}/${id.slice(team.length + 1)}` : id;
}

/**
 * The id for a name that a person, file or model writes.
 *
 * @example
 * agentIdOf("coding/planner"); // "coding_planner"
 * agentIdOf("planner"); // "planner"
 */
export function agentIdOf(name: string): string {
  return name.replace("/", "_");
}
