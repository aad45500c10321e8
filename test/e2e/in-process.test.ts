/** A command prints the same in the test's process as in a process of its own. */
import { describe, it } from "vitest";
import { type CliResult, troupe } from "../harness/cli.ts";
import { casesOf } from "../harness/long.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

describe.concurrent("a command in this process", () => {
  const commands = [
    "--version",
    "sessions --help",
    "agents ls",
    "agents ls --json",
    "config list --show-origin",
    "sessions show 0123",
    "sessions ls --limit many",
    "rum",
  ];
  const typical = ["sessions --help", "config list --show-origin", "sessions show 0123", "rum"];
  it.for(casesOf(commands, (line) => typical.includes(line)))(
    "prints and returns what a process does: troupe %s",
    async (line, { expect, onTestFinished }) => {
      const args = line.split(" ");
      const home = await tempFolder("cli", { onTestFinished });
      const inProcess = await troupe(args, { home });
      expect(inProcess).toEqual(await troupe(args, { home, ownProcess: true }));
      expect(inProcess.stdout + inProcess.stderr).not.toBe("");
    },
  );

  const runs = ["run hello", "run hello --json", "run hello --agent nowhere", "run hello --max-tokens 1", "run"];
  it.for(casesOf(runs, (line) => line === "run hello" || line.includes("nowhere")))(
    "hosts a run as a process does: troupe %s",
    async (line, { expect, onTestFinished }) => {
      const home = await tempFolder("cli", { onTestFinished });
      const scenario = await writeScenario(home, saying("A short answer."));
      const args = [...line.split(" "), "--scenario", scenario];
      const inProcess = await troupe(args, { home });
      const ofProcess = await troupe(args, { home, ownProcess: true });
      expect(withoutNumbers(inProcess)).toEqual(withoutNumbers(ofProcess));
      expect(inProcess.stdout + inProcess.stderr).not.toBe("");
    },
  );
});

/** Without the differences between two sessions: their ids, times and durations. A time of ten seconds is a column wider. */
function withoutNumbers({ code, stdout, stderr }: CliResult): CliResult {
  const without = (text: string) =>
    text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replace(/ *[\d.:T-]+(?:Z| m?s\b|s\b|(?=,))/g, " TIME");
  return { code, stdout: without(stdout), stderr: without(stderr) };
}
