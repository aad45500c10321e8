import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Cli } from "../cli.ts";
import { toTroupeError } from "../render/failure.ts";
import { finding, type SetupFinding } from "./finding.ts";

/** Reads the agent folders of this project and of the user, with the problems in their files. */
export async function findAgents({ composition, home, env, cwd }: Cli): Promise<SetupFinding[]> {
  const folders = [
    join(cwd, ".claude", "agents"),
    join(cwd, ".troupe", "agents"),
    join(env.HOME || homedir(), ".troupe", "agents"),
    join(home.path, "agents"),
  ];
  const present = [...new Set(folders)].filter((folder) => existsSync(folder));
  if (present.length === 0) {
    const detail = "no agents of your own; the shipped ones are ready";
    return [finding("agents", "agents", "absent", { detail, fix: "troupe agents new NAME" })];
  }
  try {
    const { problems } = await composition.loadAgents({ home, env, workspace: cwd });
    return await Promise.all(
      present.map(async (folder) => {
        const inFolder = problems.filter(({ path, severity }) => severity === "error" && path.startsWith(folder));
        const { agents } = await composition.validateAgents([folder], { tools: [] });
        const [first] = inFolder;
        const count = agents.length === 1 ? "1 agent" : `${agents.length} agents`;
        if (!first) return finding("agents", "agents", "works", { detail: `${folder}: ${count}` });
        const detail = `${folder}: ${count}, ${inFolder.length} with errors: ${first.message}`;
        return finding("agents", "agents", "fails", { detail, fix: `troupe agents validate ${first.path}` });
      }),
    );
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return [finding("agents", "agents", "fails", { detail: message, fix: fix ?? "troupe agents ls" })];
  }
}
