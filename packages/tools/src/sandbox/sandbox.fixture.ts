import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtempDisposable, readdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPolicy } from "@troupe/core";
import type { SandboxPolicy } from "@troupe/core/internal";
import { inject, test } from "vitest";
import { type CreateSandboxOptions, createSandbox } from "./create-sandbox.ts";
import { findBwrap, type LinuxKind, pathWith } from "./kind-programs.test-helper.ts";
import type { CommandResult, Sandbox, SandboxedCommand } from "./sandbox.ts";

export type { LinuxKind } from "./kind-programs.test-helper.ts";

/** The kinds that contain, as far as this machine and user can use them. */
export const containing = (["bubblewrap", "namespaces"] as const).filter((kind) => {
  const works = canBeHad(kind);
  // A skipped test is reported at the end of a run, and fails CI.
  if (!works) test.skip(`${kind} is not available here`, () => {});
  return works;
});
/**
 * The kinds for laws of the plan of the mounts and of the clean-up, which are the same code for each kind. The normal run
 * takes the cheaper kind.
 */
export const planned = inject("long") ? containing : containing.slice(0, 1);
export const everyKind = [...containing, "process-group"] as const;

/** Tests the machine without troupe's own code, so that a bug in it cannot look like a skip. */
function canBeHad(kind: "bubblewrap" | "namespaces"): boolean {
  const bwrap = [findBwrap() ?? "bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"];
  const unshare = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "--pid", "--fork", "true"];
  const [program = "", ...words] = kind === "bubblewrap" ? bwrap : unshare;
  return spawnSync(program, words, { stdio: "ignore" }).status === 0;
}

interface Fixtures {
  /** A folder for one test, removed at its end, with a `workspace` in it. */
  folder: string;
  workspace: string;
  /** Contains a folder for each requested kind, with exactly the programs that the kind needs. One for the tests of a file. */
  programs: string;
  /** The sandboxes of a kind that the tests of a file share, by home and options. */
  shared: Map<string, Promise<Sandbox>>;
  /** The sandbox of a kind. Its creation runs a test command, so tests that ask for the same one share it. */
  sandboxOf: (kind: LinuxKind, options?: Partial<SandboxPolicy>, more?: CreateSandboxOptions) => Promise<Sandbox>;
  /** Runs a shell line in a sandbox of a kind. */
  run: (kind: LinuxKind, line: string, overrides?: Partial<SandboxedCommand>) => Promise<CommandResult>;
  /** Text in the command lines of this test's processes only. */
  token: string;
}

/** A test that runs commands in sandboxes. */
export const sandboxTest = test.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  folder: async ({}, use) => {
    await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-sandbox-"));
    await use(made.path);
  },
  workspace: async ({ folder }, use) => {
    await mkdir(join(folder, "workspace"));
    await use(join(folder, "workspace"));
  },
  programs: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
    async ({}, use) => {
      await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-programs-"));
      await use(made.path);
    },
    { scope: "file" },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  shared: [async ({}, use) => use(new Map()), { scope: "file" }],
  sandboxOf: async ({ programs, shared }, use) => {
    await use((kind, policy = {}, more = {}) => {
      // A sandbox plans its mounts with the home of its first command.
      const key = JSON.stringify([kind, process.env.HOME, policy, more]);
      const sandbox = shared.get(key) ?? create(join(programs, kind), kind, policy, more);
      shared.set(key, sandbox);
      return sandbox;
    });
  },
  run: async ({ sandboxOf, workspace }, use) => {
    await use(async (kind, line, overrides) => runLine(await sandboxOf(kind), workspace, line, overrides));
  },
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  token: async ({}, use) => {
    // A number of seconds for `sleep`, more than an hour.
    const seconds = `36${Math.floor(Math.random() * 1e6)}.${Math.floor(Math.random() * 1e9)}`;
    await use(seconds);
    for (const pid of await living(seconds)) process.kill(pid, "SIGKILL");
  },
});

async function create(
  programs: string,
  kind: LinuxKind,
  policy: Partial<SandboxPolicy>,
  more: CreateSandboxOptions,
): Promise<Sandbox> {
  const path = await pathWith(programs, kind);
  return createSandbox({ policy: { ...defaultPolicy.sandbox, ...policy }, path, ...more });
}

export function runLine(
  sandbox: Sandbox,
  workspace: string,
  line: string,
  overrides: Partial<SandboxedCommand> = {},
): Promise<CommandResult> {
  return sandbox.run({
    argv: ["/bin/sh", "-c", line],
    workspace,
    writes: [],
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    captureBytesMax: 1024 * 1024,
    ...overrides,
  });
}

/** Ids of the living processes with a text in their command line. */
export async function living(text: string): Promise<number[]> {
  const names = await readdir("/proc");
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  // A process that has ended and was not waited for has no command line.
  return pids.filter((pid) => pid !== process.pid && commandLineOf(pid).includes(text));
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
