/**
 * Writes bytes to files that it has read, or to new files, without root privileges:
 * `unprivileged-write.test-helper.ts WORKSPACE {"PATH": BYTES, …}`. Prints the output or the error of each as JSON.
 */
import type { ToolContext } from "@troupe/core";
import { fileTools } from "./file-tools.test-helper.ts";

const [workspace = "", bytesOf = "{}"] = process.argv.slice(2);
const { read, write } = fileTools();
const unprivilegedId = 65_534;
if (process.getuid?.() === 0) {
  process.setgid?.(unprivilegedId);
  process.setuid?.(unprivilegedId);
}
const context: ToolContext = {
  session: "s",
  run: "r",
  agent: "main",
  workspace,
  grant: { tools: [], agents: [], writes: [] },
  signal: new AbortController().signal,
  idempotencyKey: "k",
  approved: false,
  plan: null,
};
const outputs: Record<string, string> = {};
for (const [path, bytes] of Object.entries(JSON.parse(bytesOf))) outputs[path] = await written(path, Number(bytes));
process.stdout.write(JSON.stringify(outputs));

async function written(path: string, bytes: number): Promise<string> {
  try {
    await read
      .bind({ path }, context)
      .run(context)
      .catch(() => {});
    return (await write.bind({ path, content: "x".repeat(bytes) }, context).run(context)).output;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
