/**
 * Runs a shell line in a sandbox, without the rights of root: `ordinary-user.test-helper.ts KIND FOLDER LINE`. The folder
 * is empty, and its owner removes it. Prints the sandbox and the result as JSON. A user without the rights of root stays
 * this user.
 */
import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createSandbox } from "./create-sandbox.ts";
import { type LinuxKind, pathWith } from "./kind-programs.test-helper.ts";

const [kind = "", folder = "", line = ""] = process.argv.slice(2);
const userId = 65_533;
const workspace = join(folder, "own");
const path = await pathWith(join(folder, "programs"), kind as LinuxKind, { copiesBwrap: true });
await mkdir(workspace);
if (process.getuid?.() === 0) {
  await chmod(folder, 0o755);
  await chown(workspace, userId, userId);
  process.setgroups?.([]);
  process.setgid?.(userId);
  process.setuid?.(userId);
}
const sandbox = await createSandbox({ path });
const { code, output } = await sandbox.run({
  argv: ["/bin/sh", "-c", line],
  workspace,
  writes: [],
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  captureBytesMax: 10_000,
});
process.stdout.write(
  JSON.stringify({ kind: sandbox.kind, detail: sandbox.detail, user: process.getuid?.(), code, output }),
);
