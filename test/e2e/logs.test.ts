/** Tests the log: JSON lines in the home with the session and run, never on stdout. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "vitest";
import { z } from "zod";
import { startTroupe, troupe } from "../harness/cli.ts";
import { writeFastDemo } from "../harness/fast-demo.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const LogLine = z.looseObject({
  level: z.int(),
  time: z.iso.datetime(),
  pid: z.int(),
  msg: z.string().min(1),
  session: z.uuid().optional(),
  run: z.uuid().optional(),
});

/** All lines of all files under `logs/` of a home. */
async function readLogs(home: string) {
  const folder = path.join(home, "logs");
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(path.join(folder, name), "utf8")));
  return texts.flatMap((text) => {
    const lines = text.split("\n");
    // A line that is cut off would be the last.
    if (lines.pop() !== "") throw new Error("the log does not end with a newline");
    return lines.map((line) => LogLine.parse(JSON.parse(line)));
  });
}

describe.concurrent("the log", () => {
  it("of a daemon has each run's start and end with both ids, and stdout has none of it", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("logs", test);
    const env = { TROUPE_LOG: "trace" };
    const up = startTroupe(["up", "--json", "--no-open", "--port", "0"], { home, test, env });
    await up.waitForOutput(/\n/);
    const answer = await troupe(["run", "x", "--json", "--scenario", await writeFastDemo(home, 50)], { home });
    const session = z.object({ sessionId: z.uuid() }).parse(JSON.parse(answer.stdout)).sessionId;
    up.process.kill("SIGINT");
    const { code, stdout } = await up.ended;
    expect({ code, lines: stdout.split("\n").length }).toEqual({ code: 0, lines: 2 });

    const lines = await readLogs(home);
    const runs = [...readJournalFile(path.join(home, "journal.db")).keys()].sort();
    expect(runs).toHaveLength(6);
    for (const message of ["run started", "run settled"]) {
      const told = lines.filter(({ msg }) => msg === message);
      expect(told.map(({ run }) => run).sort()).toEqual(runs);
      expect(new Set(told.map((line) => line.session))).toEqual(new Set([session]));
    }
    expect(lines.find(({ msg }) => msg === "session accepted")).toMatchObject({ session });
    for (const line of lines) {
      if (line.msg.startsWith("run ")) expect(line).toMatchObject({ session, run: expect.any(String) });
      expect(line.pid).toBe(up.process.pid);
    }
    expect(JSON.stringify(lines)).not.toContain(JSON.parse(stdout).token);
  });

  it("of a run in its own process is in the home, and stdout has the answer alone", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await tempFolder("logs", { onTestFinished });
    const scenario = await writeScenario(home, saying("the answer"));
    const run = await troupe(["run", "x", "--scenario", scenario], { home, env: { TROUPE_LOG: "trace" } });
    expect(run).toMatchObject({ code: 0, stdout: "the answer\n" });
    expect(run.stderr).not.toContain('"level"');
    const [journaled] = readJournalFile(path.join(home, "journal.db")).keys();
    const told = (await readLogs(home)).filter((line) => line.run === journaled).map(({ msg }) => msg);
    expect(told).toEqual(["session accepted", "run started", "run settled"]);
  });
});
