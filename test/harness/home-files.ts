import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** Writes the machine's `policy.yaml`. */
export async function writePolicy(home: string, yaml: string): Promise<void> {
  await writeFile(path.join(home, "policy.yaml"), yaml);
}

/** Every call of the shell is asked about: no shipped tool is of high risk. */
export const askBeforeShell = "risk: {medium: ask}\n";

/** An agent of the user's own, known in every workspace. */
export async function writeAgent(home: string, id: string, front: Record<string, unknown> = {}): Promise<void> {
  const folder = path.join(home, "agents");
  await mkdir(folder, { recursive: true });
  const lines = Object.entries({ name: id, description: `The ${id} of a test`, ...front }).map(
    // JSON is YAML as well.
    ([key, value]) => `${key}: ${JSON.stringify(value)}`,
  );
  await writeFile(path.join(folder, `${id}.md`), ["---", ...lines, "---", `You are the ${id}.`, ""].join("\n"));
}

/** A team `news` in a folder of teams: its lead can ask its writer. */
export async function writeNewsTeam(teams: string, front: Record<string, unknown> = {}): Promise<string> {
  const folder = path.join(teams, "news");
  await mkdir(folder, { recursive: true });
  const agent = (name: string, more: Record<string, unknown>): Promise<void> => {
    const lines = Object.entries({ name, description: `The ${name}`, tools: [], ...more }).map(
      ([key, value]) => `${key}: ${JSON.stringify(value)}`,
    );
    return writeFile(path.join(folder, `${name}.md`), ["---", ...lines, "---", `You are the ${name}.`, ""].join("\n"));
  };
  await writeFile(path.join(folder, "team.yaml"), "description: Writes news\nentry: lead\n");
  await agent("lead", { subagents: { allow: ["writer"] }, ...front });
  await agent("writer", {});
  return folder;
}
