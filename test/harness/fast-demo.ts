import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { shippedScenarioFolder } from "@troupe/models";

/** The shipped demo, step for step, at another pace. Returns the path of its scenario file. */
export async function writeFastDemo(folder: string, timesFaster: number): Promise<string> {
  const text = await readFile(path.join(shippedScenarioFolder, "demo.yaml"), "utf8");
  const faster = text.replace(/latencyMs: *(\d+)/g, (_, ms) => `latencyMs: ${Math.ceil(Number(ms) / timesFaster)}`);
  const file = path.join(folder, "fast-demo.yaml");
  await writeFile(file, faster);
  return file;
}
