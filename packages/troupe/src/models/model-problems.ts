import { readFile } from "node:fs/promises";
import { type AgentDefinition, TroupeError } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { resolveAgentModel } from "@troupe/models";
import type { Config } from "../config/config.ts";

/**
 * A warning for each agent that names an unknown model. Without a configured provider the demo answers for every agent, so
 * the list is empty.
 */
export async function modelProblems(
  agents: readonly AgentDefinition[],
  { names, providers, roles }: Pick<Config, "names" | "providers" | "roles">,
): Promise<AgentProblem[]> {
  if (providers.every(({ isImplied }) => isImplied)) return [];
  const found = await Promise.all(
    agents.map(async ({ id, model, source }): Promise<AgentProblem[]> => {
      if (Object.hasOwn(roles, id)) return [];
      try {
        const { warning } = resolveAgentModel(model, names, "inherited/model");
        if (warning === null) return [];
        const position = { path: source.path, ...(await modelPosition(source.path)) };
        return [{ ...position, severity: "warning", code: "model-not-available", ...warning }];
      } catch (error) {
        if (!TroupeError.is(error)) throw error;
        const { message, fix } = error;
        const position = { path: source.path, ...(await modelPosition(source.path)) };
        return [{ ...position, severity: "warning", code: "unknown-model", message, fix }];
      }
    }),
  );
  return found.flat();
}

/** Position of the model in the agent file. */
async function modelPosition(path: string): Promise<{ line: number; column: number }> {
  const text = await readFile(path, "utf8").catch(() => "");
  const line = text.split("\n").findIndex((each) => /^\s*["']?model["']?\s*:/.test(each));
  return { line: Math.max(1, line + 1), column: 1 };
}
