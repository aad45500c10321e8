/**
 * One command exchanges a folder of its workspace with a link that leads out, as fast as it can, while others are
 * prepared, run and cleaned up in the same workspace. By hand: `node mount-race.test-helper.ts bubblewrap 1000`, with a
 * third argument `ordinary` to run without the rights of root.
 */
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createSandbox } from "./create-sandbox.ts";
import { type LinuxKind, pathWith } from "./kind-programs.test-helper.ts";
import type { CommandResult, Sandbox, SandboxedCommand } from "./sandbox.ts";

export interface MountRace {
  kind: string;
  tries: number;
  /** Commands that ran. The race would prove nothing if all of them were refused. */
  ran: number;
  /** Exchanges of the folder and the link. */
  exchanges: number;
  /** Descriptions of everything that a command or its clean-up read or changed outside of the workspace. */
  escapes: string[];
}

export interface MountRaceOptions {
  kind: LinuxKind;
  tries: number;
  /** Runs with the rights of this user and group. */
  userId?: number;
}

/** Files beside the workspace, where the link leads. */
const outsideFiles: readonly string[] = [
  ...["secret.txt", "deep/secret.txt", ".claude/settings.json", ".ssh/id_ed25519", ".vscode/tasks.json", ".mcp.json"],
  ...[".git/config", ".git/hooks/pre-commit", ".envrc", ".npmrc"],
];

/** The command of a try. `sub` is the folder that is exchanged. */
const ways: readonly Partial<SandboxedCommand>[] = [
  { writes: [["sub"]] },
  { writes: [["sub/deep"]] },
  { writes: [["sub/new-$"]] },
  { writes: [["**/deep"]] },
  { writes: [] },
  { writes: [["sub", "other"], ["sub/deep"]] },
];

const line = `
cat sub/secret.txt sub/deep/secret.txt sub/.ssh/id_ed25519 sub.link/secret.txt
for at in sub sub/deep sub/new-$N sub.link; do echo x > $at/made-$N; echo x > $at/secret.txt; done
mkdir -p sub/.claude sub/.ssh sub/.git/hooks
echo x > sub/.claude/settings.json; rm -f sub/.mcp.json; echo x > sub/.mcp.json; echo x > way
for i in 1 2 3; do mkdir -p made-$N-$i/.vscode; done
:`;

/** Exchanges two names by renameat2 until the file "stop" exists. */
const exchanger = `
use strict; my $n = 0; my ($one, $other) = ("sub", "sub.link"); my $call = { x86_64 => 316, aarch64 => 276 }->{qx(uname -m) =~ s/\\s//gr};
mkdir $_ for ("sub", "sub/deep", "sub/.git", "sub/.git/hooks", "sub/.vscode", "sub/.claude");
for (".mcp.json") { open(my $f, ">", "sub/$_"); print $f "inside"; close $f; link("sub/$_", "way"); }
symlink($ENV{TARGET}, "sub.link");
open(my $begun, ">", "begun"); close $begun;
until (-e "stop") {
  for (1 .. 200) { syscall($call, -100, $one, -100, $other, 2); $n++; select(undef, undef, undef, rand() / 500) if $n % 7 == 0; }
}
print $n;`;

/** The link's target as bubblewrap and as everything else sees it while it mounts. */
const targetsOf = (outside: string): string[] => [outside, "../outside", `/oldroot${outside}`];

/** A loop without a pause would take the processor from the command that it waits for. */
const beginPollMs = 5;

export async function runMountRace({ kind, tries, userId }: MountRaceOptions): Promise<MountRace> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "troupe-race-"));
  const path = await pathWith(join(folder, "programs"), kind, { copiesBwrap: true });
  const race: MountRace = { kind, tries: 0, ran: 0, exchanges: 0, escapes: [] };
  const targets = targetsOf(join(folder, "0", "outside")).length;
  try {
    for (let at = 0; at < targets; at += 1) {
      for (const name of ["workspace", "outside"]) await mkdir(join(folder, `${at}`, name), { recursive: true });
      await putOutside(join(folder, `${at}`, "outside"));
    }
    await openTo(folder, userId);
    if (userId !== undefined) becomeUser(userId);
    const sandbox = await createSandbox({ path });
    if (sandbox.kind !== kind) throw new Error(`no ${kind}: ${sandbox.detail}`);
    for (let at = 0; at < targets; at += 1) {
      await raceIn(join(folder, `${at}`), sandbox, { at, tries: Math.ceil(tries / targets), race });
    }
    return race;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function raceIn(
  folder: string,
  sandbox: Sandbox,
  { at, tries, race }: { at: number; tries: number; race: MountRace },
): Promise<void> {
  const [workspace, outside] = [join(folder, "workspace"), join(folder, "outside")];
  const before = await contentsOf(outside);
  const target = targetsOf(outside)[at] ?? "";
  const racing = runIn(sandbox, workspace, { argv: ["perl", "-e", exchanger], env: { TARGET: target } });
  while (!(await readdir(workspace)).includes("begun")) await delay(beginPollMs);
  for (let i = 0; i < tries; i += 1) {
    race.tries += 1;
    const way = ways[i % ways.length] ?? {};
    const writes = (way.writes ?? []).map((scope) => scope.map((name) => name.replace("$", `${i}`)));
    const end = await runIn(sandbox, workspace, {
      argv: ["/bin/sh", "-c", line],
      ...way,
      writes,
      env: { N: `${i}` },
    }).catch(() => null);
    if (end?.reason === "exited") race.ran += 1;
    if (end?.output.includes("OUTSIDE")) race.escapes.push(`try ${i} (${target}): read ${end.stdout.slice(0, 80)}`);
    const now = await contentsOf(outside);
    if (now === before) continue;
    race.escapes.push(`try ${i} (${target}): changed outside:\n${now}`);
    await putOutside(outside);
    if ((await contentsOf(outside)) !== before) break;
  }
  await writeFile(join(workspace, "stop"), "");
  race.exchanges += Number((await racing).stdout);
  if ((await contentsOf(outside)) !== before) race.escapes.push(`at the end (${target}): changed outside`);
}

function runIn(sandbox: Sandbox, workspace: string, command: Partial<SandboxedCommand>): Promise<CommandResult> {
  return sandbox.run({
    argv: [],
    workspace,
    writes: [],
    timeoutMs: 3_600_000,
    signal: new AbortController().signal,
    captureBytesMax: 100_000,
    ...command,
  });
}

async function putOutside(outside: string): Promise<void> {
  for (const name of outsideFiles) {
    await mkdir(dirname(join(outside, name)), { recursive: true });
    await writeFile(join(outside, name), `OUTSIDE ${name}`);
  }
}

/** Every name below a folder with its content, as one text. */
async function contentsOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const lines = await Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const content = entry.isFile()
        ? await readFile(path, "utf8")
        : entry.isSymbolicLink()
          ? await readlink(path)
          : "";
      return `${path.slice(folder.length)}: ${content}`;
    }),
  );
  return lines.sort().join("\n");
}

async function openTo(folder: string, userId: number | undefined): Promise<void> {
  if (userId === undefined) return;
  await chmod(folder, 0o755);
  await chown(folder, userId, userId);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chown(join(entry.parentPath, entry.name), userId, userId);
  }
}

function becomeUser(userId: number): void {
  process.setgroups?.([]);
  process.setgid?.(userId);
  process.setuid?.(userId);
}

if (import.meta.main) {
  const [kind = "bubblewrap", tries = "60", user] = process.argv.slice(2);
  const race = await runMountRace({
    kind: kind as LinuxKind,
    tries: Number(tries),
    ...(user === "ordinary" ? { userId: 65_534 } : {}),
  });
  process.stdout.write(`${JSON.stringify(race, null, 1)}\n`);
  process.exitCode = race.escapes.length > 0 ? 1 : 0;
}
