/**
 * Records sessions of this version as fixtures for `recorded.test.ts`. Run it once for each version, before its release,
 * as root on Linux, from the root of the checkout:
 *
 *   npx -y pnpm@12 build
 *   unshare --mount --uts sh -c 'hostname demo; mount -t tmpfs tmpfs /srv; node_modules/.bin/node test/replay/record.ts'
 *
 * The private mount and host name keep paths and names of the machine out of the fixtures. The program starts real
 * daemons on the home /srv/demo/home, plays the sessions of `scenarios.ts`, and writes `test/replay/recorded/<version>`.
 * It refuses to overwrite a recorded version.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { EntryBody } from "@troupe/core";
import { type EntryKind, openEntry } from "@troupe/core/internal";
import { readSessionFeed } from "@troupe/recorder";
import { replaySession } from "@troupe/runtime";
import manifest from "../../package.json" with { type: "json" };
import { troupe } from "../harness/cli.ts";
import { startDaemon, type TestDaemon } from "../harness/daemon.ts";
import { askBeforeShell, writeAgent, writePolicy } from "../harness/home-files.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { atGate, openGate } from "../harness/scripted-calls.ts";
import { commandOf, questionsOf, responseOf, runsWhere } from "../harness/session-queries.ts";
import { until } from "../harness/until.ts";
import { definitions, type SessionName, type SessionScenario, scenarios } from "./scenarios.ts";

const root = "/srv/demo";
const home = path.join(root, "home");
const target = path.join(import.meta.dirname, "recorded", manifest.version);

/** Takes the place of `target` once everything is in it. */
const partial = `${target}.partial`;

/** Session ids by name, in the order of recording. */
const ids = new Map<SessionName, string>();

function startHome(): Promise<TestDaemon> {
  return startDaemon({ home, test: { onTestFinished: () => {} }, env: { USER: "ada" } });
}

const folderOf = (name: SessionName): string => path.join(root, "work", name);
const scenarioOf = (name: SessionName): string => path.join(root, "scenarios", `${name}.yaml`);
const idOf = (name: SessionName): string => ids.get(name) ?? "";

type Submission = Parameters<TestDaemon["client"]["submit"]>[0];

async function submit(name: SessionName, given: Partial<Submission> & { task: string; agent: string }) {
  const scenario = scenarioOf(name);
  const submitted = await daemon.client.submit({ workspace: folderOf(name), scenario, origin: "api", ...given });
  ids.set(name, submitted.session);
  return submitted;
}

async function settled(name: SessionName): Promise<void> {
  const { status, bailoutReason } = await responseOf(daemon, idOf(name));
  console.info(`${name}: ${status}${bailoutReason ? ` (${bailoutReason})` : ""}`);
}

/** Writes the agents, the scenarios, and the files that the sessions work with. */
async function writeHome(): Promise<void> {
  for (const folder of [home, path.join(root, "scenarios")]) await mkdir(folder, { recursive: true });
  for (const [id, front] of Object.entries(definitions)) await writeAgent(home, id, front);
  for (const [name, scenario] of Object.entries<SessionScenario>(scenarios)) {
    const { agents, price } = scenario;
    const file = { name, description: "a recorded session", agents, ...(price ? { price } : {}) };
    await writeFile(scenarioOf(name as SessionName), JSON.stringify(file, null, 2));
    await mkdir(folderOf(name as SessionName), { recursive: true });
  }
  await writeFile(path.join(folderOf("checked"), "ledger.md"), "40\n2\n");
  for (const page of [1, 2, 3, 4])
    await writeFile(path.join(folderOf("room"), `page-${page}.txt`), `${page}`.repeat(2_000));
  for (const page of [5, 6, 7, 8, 9])
    await writeFile(path.join(folderOf("room"), `line-${page}.txt`), `line ${page}\n`);
  const repository = folderOf("folders");
  await writeFile(path.join(repository, "root.txt"), "deep\n");
  const person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  for (const words of [
    ["init", "-q", "-b", "main"],
    ["add", "."],
    [...person, "commit", "-q", "-m", "root"],
  ]) {
    execFileSync("git", words, { cwd: repository });
  }
}

async function recordWithoutPeople(): Promise<void> {
  await submit("plain", { agent: "solo", task: "How much are two and two?" });
  await submit("tools", { agent: "builder", task: "Write a list." });
  await submit("tree", { agent: "lead", task: "Explore, then build." });
  await submit("checked", { agent: "lead", task: "What is the total?" });
  await submit("room", { agent: "reader", task: "Read all pages." });
  await submit("capped", { agent: "lead", task: "Check everything.", limits: { maxToolCalls: 4, maxIterations: 3 } });
  await submit("spent", { agent: "lead", task: "Go on and on.", budget: { tokens: 14_000, costUsd: 0.5, spawns: 3 } });
  await submit("folders", { agent: "lead", task: "Work apart." });
  for (const name of ["plain", "tools", "tree", "checked", "room", "capped", "spent", "folders"] as const) {
    await settled(name);
  }
  await submit("turns", { agent: "builder", task: "Write a greeting." });
  await settled("turns");
  const continues = idOf("turns");
  const second = await submit("turns", { agent: "builder", task: "What does it say?", continues });
  await until(async () => (await daemon.client.response(continues).catch(() => null))?.runId === second.run);
}

async function recordSteering(): Promise<void> {
  const { session, run } = await submit("steered", { agent: "lead", task: "Build." });
  const folder = folderOf("steered");
  for (const name of ["lead", "slow"]) await atGate(folder, name);
  await daemon.client.steer(run, "Something else, please.", "ada");
  const runs = await runsWhere(daemon, session, (rows) => rows.length === 3);
  const slow = runs.find(({ task }) => task === "build slowly");
  await daemon.client.cancelRun(slow?.run ?? "", "not this one");
  await openGate(folder, "lead");
  await atGate(folder, "other");
  await runsWhere(daemon, session, (rows) => rows.some(({ agent }) => agent === "checker"));
  await daemon.client.cancel(session, "enough");
  await settled("steered");
}

async function recordPause(): Promise<void> {
  const { session, run } = await submit("paused", { agent: "lead", task: "Check it." });
  const folder = folderOf("paused");
  for (const name of ["lead", "checker"]) await atGate(folder, name);
  await daemon.client.pause(run, "ada");
  await runsHave(session, { kind: "inbox.received", count: 2 });
  for (const name of ["lead", "checker"]) await openGate(folder, name);
  await runsHave(session, { kind: "run.parked", count: 1 });
  await daemon.client.resume(run, "ada");
  await settled("paused");
}

/** Kills a daemon, and stops another one, while runs are under way. */
async function recordRestarts(): Promise<void> {
  const killed = await submit("killed", { agent: "lead", task: "Build, whatever happens." });
  await atGate(folderOf("killed"), "builder");
  await runsWhere(daemon, killed.session, (rows) => rows.length === 3);
  await daemon.kill();
  daemon = await startHome();
  await settled("killed");

  const { session } = await submit("drained", { agent: "lead", task: "Check it slowly." });
  await runsWhere(daemon, session, (rows) => rows.length === 2);
  await daemon.stop();
  daemon = await startHome();
  await settled("drained");
}

async function recordApprovals(): Promise<void> {
  await daemon.stop();
  await writePolicy(home, askBeforeShell);
  daemon = await startHome();
  const { session } = await submit("asked", { agent: "lead", task: "Ask before you act." });
  await questionsOf(daemon, session, 3);
  await runsHave(session, { kind: "run.parked", count: 1 });
  // The answers arrive while the runs are parked, at another daemon than the one that asked.
  await daemon.stop();
  daemon = await startHome();
  for (const question of await questionsOf(daemon, session, 3)) {
    const isDenied = commandOf(question) === "echo bad";
    await daemon.client.answer(question.id, {
      approved: !isDenied,
      by: "ada",
      scope: commandOf(question) === "echo good" ? "run" : "once",
      reason: isDenied ? "not on a Friday" : null,
    });
  }
  await settled("asked");

  const left = await submit("waiting", { agent: "lead", task: "Deploy it." });
  await questionsOf(daemon, left.session, 1);
  await runsHave(left.session, { kind: "run.parked", count: 1 });
}

/** Resolves once so many runs of a session have an entry of this kind. */
function runsHave(session: string, { kind, count }: { kind: EntryKind; count: number }): Promise<unknown> {
  return until(() => {
    const runs = [...readJournalFile(path.join(home, "journal.db")).values()];
    const found = runs.filter((run) => run.some(({ entry }) => entry.session === session && entry.kind === kind));
    return found.length === count;
  });
}

async function shown(...words: string[]) {
  const { code, stdout, stderr } = await troupe([...words, "--json"], { home });
  if (code !== 0) throw new Error(`troupe ${words.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Copies the databases of the stopped daemon. Call it before another process opens them. */
async function keepDatabases(): Promise<void> {
  const folder = path.join(partial, "home");
  await mkdir(folder, { recursive: true });
  for (const name of ["journal.db", "troupe.db"]) {
    if (existsSync(path.join(home, `${name}-wal`))) throw new Error(`${name} was not closed: it has a -wal file`);
    await writeFile(path.join(folder, `${name}.gz`), gzipSync(await readFile(path.join(home, name)), { level: 9 }));
  }
}

/** Writes one feed for each session, and the output of this version's command line. */
async function keepSessions(): Promise<void> {
  const kinds = new Set<string>();
  const sessions: Record<string, unknown> = {};
  for (const [name, session] of ids) {
    const feed = await readSessionFeed({ file: path.join(home, "journal.db"), session });
    for (const item of feed) if (item.kind === "entry") kinds.add(openEntry(item.text).kind);
    const replayed = await replaySession({ session, from: feed });
    if (!replayed.same) throw new Error(`${name} does not replay: ${JSON.stringify(replayed.divergence, null, 2)}`);
    await writeFile(path.join(partial, `${name}.jsonl`), feed.map((item) => `${JSON.stringify(item)}\n`).join(""));
    sessions[name] = { replayed, shown: await shown("sessions", "show", session) };
  }
  const missing = EntryBody.options.map((body) => body.shape.kind.value).filter((kind) => !kinds.has(kind));
  if (missing.length > 0) throw new Error(`no session has an entry of kind ${missing.join(", ")}`);
  const expected = { sessions, list: await shown("sessions", "ls"), approvals: await shown("approvals", "ls") };
  await writeFile(path.join(partial, "expected.json"), `${JSON.stringify(expected, null, 2)}\n`);
}

if (existsSync(target)) throw new Error(`${target} exists already. A version is recorded only once.`);
if (existsSync(root)) throw new Error(`${root} exists already. See the usage at the top of this file.`);
await rm(partial, { recursive: true, force: true });
await writeHome();
let daemon = await startHome();
try {
  await recordWithoutPeople();
  await recordSteering();
  await recordPause();
  await recordRestarts();
  await recordApprovals();
  await daemon.stop();
  await keepDatabases();
  await keepSessions();
  await rename(partial, target);
} finally {
  await daemon.kill();
}
console.info(`recorded ${ids.size} sessions in ${target}`);
