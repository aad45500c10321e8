import path from "node:path";
import { type AgentDefinition, type AgentRegistry, TroupeError } from "@troupe/core";

/** The agent of that id; one whose file is broken is told apart from one that nobody has ever written. */
export function findAgent(registry: AgentRegistry, id: string): AgentDefinition {
  const agent = registry.find(id);
  if (agent) return agent;
  const broken = registry.problems.find(
    (problem) => problem.severity === "error" && path.basename(problem.path).toLowerCase() === `${id}.md`.toLowerCase(),
  );
  if (broken) {
    const where = `${broken.path}:${broken.line}`;
    throw new TroupeError("INVALID_AGENT", `the agent "${id}" cannot be used: ${where}: ${broken.message}`, {
      fix: `troupe agents validate ${broken.path}`,
    });
  }
  const known = registry.agents.map((each) => each.id).join(", ");
  throw new TroupeError("UNKNOWN_AGENT", `no agent is called "${id}"; there are: ${known}`, {
    fix: "troupe agents ls",
  });
}
