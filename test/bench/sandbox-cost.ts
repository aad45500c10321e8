/**
 * Overhead of a sandbox for a short command, and the event loop lag during a flood of output. Covers every sandbox kind
 * of this machine.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, type Sandbox } from "@troupe/tools";
import { type Lag, watchLoopLag } from "./loop-lag.ts";

const rounds = 60;
const floodBytes = Number(process.argv[2] ?? 10_000_000_000);

export interface SandboxCost {
  plainMs: number;
  kinds: { kind: string; roundTripMs: number; flood: Lag; floodMbPerSecond: number }[];
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), "troupe-bench-")));
const workspace = realpathSync(mkdtempSync(join(tmpdir(), "troupe-bench-")));
try {
  const kinds: SandboxCost["kinds"] = [];
  for (const sandbox of await everyKind()) kinds.push(await measure(sandbox));
  console.log(JSON.stringify({ plainMs: await roundTripMs(plain), kinds } satisfies SandboxCost));
} finally {
  for (const made of [folder, workspace]) rmSync(made, { recursive: true, force: true });
}

/** Each kind is had by hiding the better ones. */
async function everyKind(): Promise<Sandbox[]> {
  const sbin = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
  const bwrap = [
    process.env.TROUPE_TEST_BWRAP ?? "",
    ...(process.env.PATH ?? "").split(":").map((at) => join(at, "bwrap")),
  ]
    .concat(join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "troupe-dev", "bubblewrap", "bwrap"))
    .find((file) => file !== "" && existsSync(file));
  const sandboxes: Sandbox[] = [];
  for (const programs of [
    ["bwrap", "prlimit", "perl"],
    ["unshare", "setpriv", "mount", "umount", "pivot_root", "prlimit", "perl"],
    ["prlimit"],
  ]) {
    const path = mkdtempSync(join(folder, "path-"));
    for (const name of programs) {
      const found = name === "bwrap" ? bwrap : sbin.map((at) => join(at, name)).find((file) => existsSync(file));
      if (found) symlinkSync(found, join(path, name));
    }
    sandboxes.push(await createSandbox({ path }));
  }
  return sandboxes.filter(({ kind }, i) => sandboxes.findIndex((other) => other.kind === kind) === i);
}

async function measure(sandbox: Sandbox): Promise<SandboxCost["kinds"][number]> {
  const run = (line: string) =>
    sandbox.run({
      argv: ["/bin/sh", "-c", line],
      workspace,
      writes: [],
      timeoutMs: 600_000,
      signal: new AbortController().signal,
      captureBytesMax: 1024 * 1024,
    });
  const tripMs = await roundTripMs(() => run("echo hello"));
  const startedMs = performance.now();
  const watch = watchLoopLag();
  const end = await run(`head -c ${floodBytes} /dev/zero`);
  const flood = watch.stop();
  if (end.code !== 0) throw new Error(`the flood ended with ${end.output.slice(-200)}`);
  const floodMbPerSecond = floodBytes / 1_000 / (performance.now() - startedMs);
  return { kind: sandbox.kind, roundTripMs: tripMs, flood, floodMbPerSecond };
}

async function roundTripMs(run: () => Promise<unknown>): Promise<number> {
  await run();
  const timesMs: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const startedMs = performance.now();
    await run();
    timesMs.push(performance.now() - startedMs);
  }
  // The median: other work of the machine makes some of them many times longer.
  return timesMs.toSorted((a, b) => a - b)[rounds / 2] ?? 0;
}

async function plain(): Promise<void> {
  const child = spawn("/bin/sh", ["-c", "echo hello"], { cwd: workspace, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, "close");
}
