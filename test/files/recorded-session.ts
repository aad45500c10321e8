import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { afterAll, expect, type TestContext } from "vitest";
import { type CliResult, troupe } from "../harness/cli.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

/** A lead that reads a file, delegates, writes a file and answers. */
export const leadAndScout: Agents = {
  main: [
    {
      steps: [
        { text: "I look first.", calls: [{ tool: "ls", args: {} }] },
        {
          text: "I ask the researcher.",
          calls: [{ tool: "delegate", args: { agent: "researcher", task: "count the doors" } }],
        },
        { text: "I write it down.", calls: [{ tool: "write", args: { path: "doors.txt", content: "three\n" } }] },
        { text: "There are three doors." },
      ],
    },
  ],
  researcher: [
    { steps: [{ text: "Let me see.", calls: [{ tool: "ls", args: {} }] }, { text: "I count three doors." }] },
  ],
};

export interface RecordedHome {
  home: string;
  /** Working folder of the commands. */
  folder: string;
  env: Record<string, string>;
  session: string;
  root: string;
  at(name: string): string;
  cli(...args: string[]): Promise<CliResult>;
  /** The same with another home. */
  cliOf(home: string, ...args: string[]): Promise<CliResult>;
}

/** A home with one settled session, and no daemon. */
export async function recordSession(
  test: TestContext,
  { agents = leadAndScout, task = "count the doors of the house" }: { agents?: Agents; task?: string } = {},
): Promise<RecordedHome> {
  const recording = await recordingOf(agents, task);
  const home = await tempFolder("files", test);
  const folder = await tempFolder("files-work", test);
  await cp(recording.home, home, { recursive: true });
  const { env, session, root } = recording;
  const cliOf = (of: string, ...args: string[]) => troupe(args, { home: of, cwd: folder, env });
  const cli = (...args: string[]) => cliOf(home, ...args);
  return { home, folder, env, session, root, cli, cliOf, at: (name) => path.join(folder, name) };
}

interface Recording {
  home: string;
  env: Record<string, string>;
  session: string;
  root: string;
}

/** Every test has a copy of the home, because the command that records it costs more than most of the tests. */
const recordings = new Map<string, Promise<Recording>>();
const recordedFolders: string[] = [];

afterAll(async () => {
  for (const folder of recordedFolders) await rm(folder, { recursive: true, force: true });
});

function recordingOf(agents: Agents, task: string): Promise<Recording> {
  const key = JSON.stringify([agents, task]);
  const recording = recordings.get(key) ?? record(agents, task);
  recordings.set(key, recording);
  return recording;
}

async function record(agents: Agents, task: string): Promise<Recording> {
  const all = await mkdtemp(path.join(tmpdir(), "troupe-files-recording-"));
  recordedFolders.push(all);
  const [home, workspace] = [path.join(all, "home"), path.join(all, "workspace")];
  for (const folder of [home, workspace]) await mkdir(folder);
  const env = { TROUPE_MODEL: `scripted/${await writeScenario(all, agents)}` };
  const ran = await troupe(["run", "--json", "--workspace", workspace, task], { home, cwd: all, env });
  expect(ran.stderr + ran.stdout).toContain("sessionId");
  const { sessionId: session, runId: root } = RunResponse.parse(JSON.parse(ran.stdout));
  return { home, env, session, root };
}

export async function expectReplaysSame(
  { cli }: Pick<RecordedHome, "cli">,
  session: string,
  test: TestContext,
): Promise<void> {
  const replayed = await cli("sessions", "replay", session);
  test.expect(replayed).toMatchObject({ code: 0, stdout: test.expect.stringContaining("same:") });
}
