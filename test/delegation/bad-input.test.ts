/**
 * For every model output, a run ends with one clear response. The model learns of each impossible request once, by type
 * and cause. Nothing is granted, run, asked or written on the way, and no other run is affected.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Message, ModelRequest } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chainProblems } from "../harness/journal-file.ts";
import { isLong } from "../harness/long.ts";
import { claimRows, claims } from "./bad-input/claim-rows.ts";
import { delegateRows } from "./bad-input/delegate-rows.ts";
import { replyRows } from "./bad-input/reply-rows.ts";
import { agents, lastAnswer, nothingDone, type Throws } from "./bad-input/row.ts";
import { toolRows } from "./bad-input/tool-rows.ts";
import { createEscapeWorkspace, type EscapeWorkspace } from "./escape-workspace.ts";
import { call, calling, delegate, type ModelOutput } from "./scripted-agents.ts";
import { type Session, type Team, withTeam } from "./team.ts";
import { type ReachedCall, spied, teamTools } from "./team-tools.ts";

const rows = [...toolRows, ...delegateRows, ...replyRows, ...claimRows];
/** A run beside the row's. In the normal run each tenth row has one. */
const hasBystander = (row: number): boolean => isLong || row % 10 === 0;
const unhurt = { status: "completed", details: "unhurt", toolsUsed: ["echo"] };
const byTask = new Map(rows.map((row) => [row.name, row]));

/** All rows share one team and one workspace, so that damage by one row shows in the next ones. */
let team: Team;
let folder: string;
let sandbox: EscapeWorkspace;
let before: Record<string, string>;
const reached: ReachedCall[] = [];
const [ready, over] = [Promise.withResolvers<Team>(), Promise.withResolvers<void>()];
let closed: Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "troupe-bad-input-"));
  sandbox = await createEscapeWorkspace(folder);
  before = await sandbox.contents();
  const tools = spied(teamTools, (tool) => reached.push(tool));
  closed = withTeam({ agents, answer, tools, journal: "sqlite" }, (opened) => {
    ready.resolve(opened);
    return over.promise;
  });
  team = await Promise.race([ready.promise, closed.then(() => ready.promise)]);
});

afterAll(async () => {
  over.resolve();
  await closed;
  await rm(folder, { recursive: true, force: true });
});

function answer({ origin, messages }: ModelRequest): ModelOutput {
  const { agent, task, step } = origin;
  if (agent === "bystander") return step === 1 ? calling(call("echo", { step })) : "unhurt";
  if (task.startsWith("claims: ")) return claims.find(([what]) => task === `claims: ${what}`)?.[1] ?? "";
  if (task.startsWith("believes: ")) {
    return messages.length === 1 ? calling(delegate("helper", task.replace("believes", "claims"))) : lastAnswer;
  }
  const output = byTask.get(task)?.outputs[step - 1] ?? lastAnswer;
  if (typeof output === "object" && "throws" in output) throw (output as Throws).throws;
  return output;
}

/** The results that a model was given, as it read them. */
function toolResults(session: Session): (Message & { role: "tool" })[] {
  const last = team.questions.findLast(({ origin }) => origin.run === session.run);
  return (last?.messages ?? []).flatMap((message) => (message.role === "tool" ? [message] : []));
}

/** Type and message of an error, in either of the forms in which a model is told of one. */
function errorIn(text: string): { type: string; message: string } {
  if (text.startsWith("{")) return JSON.parse(text).error;
  const colon = text.indexOf(": ");
  return { type: text.slice(0, colon), message: text.slice(colon + 2) };
}

async function journalProblems(session: string, run: string): Promise<string[]> {
  const texts = await team.journal.readRun(session, run);
  return chainProblems(texts.map((text) => ({ entry: openEntry(text), text })));
}

describe("a model that answers with", () => {
  it.for(rows.map((row, i) => [row.name, row, i] as const))("%s", async ([, row, i]) => {
    const logged = team.log.length;
    const session = await team.begin(row.name, {
      agent: row.agent ?? "main",
      workspace: sandbox.workspace,
      ...row.submission,
    });
    const bystander = hasBystander(i)
      ? await team.begin("stand by", { agent: "bystander", workspace: sandbox.workspace })
      : null;

    expect(await session.response).toMatchObject({
      ...nothingDone,
      ...(row.ends ?? { status: "completed", details: lastAnswer, error: null }),
    });
    if (bystander) expect(await bystander.response).toMatchObject(unhurt);

    const errors = toolResults(session).filter(({ isError }) => isError);
    const expected = row.errors ?? [];
    expect(errors.map(({ text }) => errorIn(text))).toEqual(
      expected.map(([type, message]) => expect.objectContaining({ type, message: expect.stringContaining(message) })),
    );
    for (const { text } of errors) expect(text.length).toBeLessThan(2_000);

    const tools = reached.flatMap((each) => (each.session === session.session ? [each.tool] : []));
    expect(tools).toEqual(row.reaches ?? []);
    const tree = await team.tree(session);
    expect(tree, "runs that have begun").toHaveLength(1);
    const planned = tree.flat().flatMap((entry) => (entry.kind === "calls.planned" ? entry.children : []));
    expect(planned).toHaveLength(row.plans ?? 0);
    const started = tree.flat().flatMap((entry) => (entry.kind === "tool.started" ? [entry.tool] : []));
    expect(started, "tools that are said to have been started").toEqual([]);
    expect(await sandbox.contents()).toEqual(before);
    expect(team.log.slice(logged).filter(({ level }) => level === "error")).toEqual([]);
    expect(await journalProblems(session.session, session.run)).toEqual([]);
  });

  it("gets an error for each of more than 200 different mistakes", () => {
    expect(byTask.size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(200);
  });

  it("leaves nothing behind", async () => {
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
    expect(({} as { testsRun?: number }).testsRun).toBeUndefined();
    const { runs } = await team.rows((await team.begin("stand by", { agent: "bystander" })).session);
    expect(runs).toHaveLength(1);
  });
});

describe("a child with a false claim in", () => {
  it.for(claims)("%s changes no record: its parent reads the recorded work", async ([what, text]) => {
    const session = await team.begin(`believes: ${what}`, { agent: "main" });
    const response = await session.response;
    expect(response).toMatchObject({ status: "completed", ...nothingDone, toolsUsed: ["delegate"] });
    expect(response.metrics.subtree).toMatchObject({ runs: 2, toolCalls: 1 });
    const [result] = toolResults(session);
    const read = JSON.parse(result?.text ?? "");
    expect(text.split("\n")).toEqual(expect.arrayContaining((read.details || read.summary).split("\n")));
    expect(read).toMatchObject({
      status: "completed",
      files_modified: [],
      files_created: [],
      tests_run: 0,
      tests_passed: 0,
      iteration_count: 1,
    });
  });
});
