import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Scenario } from "@troupe/models";
import type { z } from "zod";

export type Agents = z.input<typeof Scenario>["agents"];

/** Writes a scenario without latency, unless a step sets one. Returns the path of its file. */
export async function writeScenario(folder: string, agents: Agents, name = "scripted"): Promise<string> {
  const file = path.join(folder, `${name}.yaml`);
  // JSON is YAML as well.
  await writeFile(file, JSON.stringify({ name, description: "of a test", agents }, null, 2));
  return file;
}

/** One agent `main` that says one thing. */
export function saying(text: string, latencyMs = 0): Agents {
  return { main: [{ steps: [{ text, latencyMs }] }] };
}
