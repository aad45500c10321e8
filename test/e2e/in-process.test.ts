/** A command in the test's process prints what it prints in a process of its own. */
import { describe, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { tempFolder } from "../harness/temp-folder.ts";

describe.concurrent("a command in this process", () => {
  it.for([
    "--version",
    "sessions --help",
    "agents ls",
    "agents ls --json",
    "config list --show-origin",
    "sessions show 0123",
    "sessions ls --limit many",
    "rum",
  ])("prints and returns what a process does: troupe %s", async (line, { expect, onTestFinished }) => {
    const args = line.split(" ");
    const home = await tempFolder("cli", { onTestFinished });
    const inProcess = await troupe(args, { home });
    expect(inProcess).toEqual(await troupe(args, { home, ownProcess: true }));
    expect(inProcess.stdout + inProcess.stderr).not.toBe("");
  });
});
