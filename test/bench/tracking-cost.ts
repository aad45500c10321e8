/**
 * Latency that the search for changes adds to one command in a large and in a small workspace. The floor is one listing
 * of all names and stamps by `find`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryBlobs } from "@troupe/core/memory";
import { createRunFolders, createSandbox } from "@troupe/tools";

const rounds = 12;
const files = Number(process.argv[2] ?? 50_000);
const filesInFolder = 20;

export interface TrackingCost {
  firstMs: number;
  addedMs: number;
  changedMs: number;
  findMs: number;
  smallMs: number;
  smallTrackedMs: number;
}

const root = realpathSync(mkdtempSync(join(tmpdir(), "troupe-bench-")));
try {
  const large = makeWorkspace("large", files);
  const small = makeWorkspace("small", 20);
  const sandbox = await createSandbox();
  const run = (workspace: string, line: string) =>
    sandbox.run({
      argv: ["/bin/sh", "-c", line],
      workspace,
      writes: [],
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      captureBytesMax: 1024,
    });
  const [first = 0, ...others] = await added(large, rounds + 1, async () => {});
  const changed = await added(large, rounds, async (i) => void (await run(large, `echo ${i} > d0/s0/made.txt`)));
  const findMs = median(
    times(rounds, () => void execFileSync("find", [large, "-printf", "%i %s %T@ %C@ %m %p\\0"], { maxBuffer: 1e9 })),
  );
  const plain: number[] = [];
  const tracked: number[] = [];
  const track = await openTracked(small);
  for (let i = 0; i < 40; i += 1) {
    plain.push(await timed(() => run(small, "echo hello")));
    tracked.push(await timed(() => track(i, () => run(small, "echo hello"))));
  }
  console.log(
    JSON.stringify({
      firstMs: first,
      addedMs: median(others),
      changedMs: median(changed),
      findMs,
      smallMs: median(plain),
      smallTrackedMs: median(tracked),
    } satisfies TrackingCost),
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** A repository with committed files, as a user has it. */
function makeWorkspace(name: string, count: number): string {
  const workspace = join(root, name);
  for (let folder = 0; folder * filesInFolder < count; folder += 1) {
    const at = join(workspace, `d${folder % 50}`, `s${Math.floor(folder / 50)}`);
    mkdirSync(at, { recursive: true });
    for (let i = 0; i < filesInFolder; i += 1) writeFileSync(join(at, `f${i}.txt`), `${folder} ${i}\n`);
  }
  const git = (...args: string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0", ...args], {
      cwd: workspace,
      stdio: "ignore",
    });
  };
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message=first");
  // As after a clone. Otherwise git would do it later, beside the measurement.
  git("gc", "--quiet");
  return workspace;
}

type Track = (step: number, command: () => Promise<unknown>) => Promise<number>;

/** Tracks commands in a workspace as a run does. Resolves to the time without the command itself. */
async function openTracked(workspace: string): Promise<Track> {
  const folders = createRunFolders({ folder: join(root, "runs"), blobs: createMemoryBlobs() });
  const id = "0198a000-0000-7000-8000-000000000001";
  const request = { session: id, run: id, workspace: { id: "w", path: workspace } };
  const folder = await folders.open(request, { journaled: null, isResumed: false });
  return async (step, command) => {
    const key = `${step}/0`;
    const before = await timed(() => folder.callStarted({ key, planned: [], listsChanges: false }));
    await command();
    return before + (await timed(() => folder.callEnded({ key })));
  };
}

/** The added time of each of some commands. */
async function added(workspace: string, count: number, command: (i: number) => Promise<void>): Promise<number[]> {
  const track = await openTracked(workspace);
  const values: number[] = [];
  for (let i = 0; i < count; i += 1) values.push(await track(i, () => command(i)));
  return values;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function times(count: number, work: () => void): number[] {
  return Array.from({ length: count }, () => {
    const startedMs = performance.now();
    work();
    return performance.now() - startedMs;
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
