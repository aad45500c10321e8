/**
 * Writes BYTES bytes to a file that it has read, or to a new file, without root privileges:
 * `unprivileged-write.test-helper.ts WORKSPACE PATH BYTES`. Prints the output or the error.
 */
import type { ToolContext } from "@troupe/core";
import { fileTools } from "./file-tools.test-helper.ts";

const [workspace = "", path = "", bytes = "0"] = process.argv.slice(2);
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
try {
  await read
    .bind({ path }, context)
    .run(context)
    .catch(() => {});
  const { output } = await write.bind({ path, content: "x".repeat(Number(bytes)) }, context).run(context);
  process.stdout.write(output);
} catch (error) {
  process.stdout.write(error instanceof Error ? error.message : String(error));
}
