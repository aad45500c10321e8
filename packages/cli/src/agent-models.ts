import { readFile } from "node:fs/promises";
import { type AgentDefinition, TroupeError } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { resolveForAgent } from "@troupe/models";
import type { Cli } from "./cli.ts";

/**
 * A warning for each agent whose model nothing is configured for: its runs would fail. Where nothing is set up at all the
 * demo answers for everybody, and nothing can be said of models.
 */
export async function modelProblems(
  { composition, home, env, cwd }: Cli,
  agents: readonly AgentDefinition[],
): Promise<AgentProblem[]> {
  const { names, providers, roles } = await composition.readConfig({ home, env, cwd, workspace: cwd });
  if (providers.every(({ isImplied }) => isImplied)) return [];
  const found = await Promise.all(
    agents.map(async ({ id, model, source }): Promise<AgentProblem[]> => {
      if (Object.hasOwn(roles, id)) return [];
      try {
        resolveForAgent(model, names, "inherited/model");
        return [];
      } catch (error) {
        if (!TroupeError.is(error)) throw error;
        const { message, fix } = error;
        const place = { path: source.path, ...(await placeOf(source.path)) };
        return [{ ...place, severity: "warning", code: "unknown-model", message, fix }];
      }
    }),
  );
  return found.flat();
}

/** Where the file names its model. */
async function placeOf(path: string): Promise<{ line: number; column: number }> {
  const text = await readFile(path, "utf8").catch(() => "");
  const line = text.split("\n").findIndex((each) => /^\s*["']?model["']?\s*:/.test(each));
  return { line: Math.max(1, line + 1), column: 1 };
}
