/**
 * Changes of files by commands, through the real command line: a scripted model runs shell commands in the folder of a
 * person, and the record shows what they created, changed and deleted.
 */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { readSessionFeed } from "@troupe/recorder";
import { describe, it } from "vitest";
import { z } from "zod";
import { troupe } from "../harness/cli.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { writePolicy } from "../harness/home-files.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const Shown = z.object({
  response: z.object({
    filesCreated: z.array(z.string()),
    filesModified: z.array(z.string()),
    filesDeleted: z.array(z.string()),
  }),
  changes: z.array(z.object({ path: z.string(), kind: z.string(), tool: z.string(), diff: z.string() })),
});

const command = "rm -rf notes; echo changed >> kept.txt; touch -d 2001-01-01 kept.txt; echo new > made.txt";

describe("a command of an agent", () => {
  it("that deletes and overwrites files of the user is in the record, with the old contents", async (test) => {
    const { expect } = test;
    const home = await tempFolder("command-changes", test);
    const workspace = await tempFolder("command-changes-work", test);
    await mkdir(path.join(workspace, "notes"));
    await writeFile(path.join(workspace, "notes", "only-copy.txt"), "a year of work\n");
    await writeFile(path.join(workspace, "kept.txt"), "old\n");
    await writeFile(path.join(workspace, "disk.img"), Buffer.alloc(9 * 1024 * 1024));
    await writePolicy(home, "risk: {high: allow}\ncommands: {loss: allow}\n");
    const steps = [{ calls: [{ tool: "shell", args: { command } }] }, { text: "tidied up" }];
    const scenario = await writeScenario(home, { coder: [{ steps }] });

    const run = await troupe(["run", "tidy up", "--agent", "coder", "--scenario", scenario, "--workspace", workspace], {
      home,
    });
    expect(run).toMatchObject({ code: 0 });
    const session = /session (\S+)/.exec(run.stderr)?.[1] ?? "";

    const shown = Shown.parse(JSON.parse((await troupe(["sessions", "show", session, "--json"], { home })).stdout));
    expect(shown.response).toEqual({
      filesCreated: ["made.txt"],
      filesModified: ["kept.txt"],
      filesDeleted: ["notes/only-copy.txt"],
    });
    expect(shown.changes.map(({ path, kind, tool }) => `${tool} ${kind} ${path}`)).toEqual([
      "shell modified kept.txt",
      "shell created made.txt",
      "shell deleted notes/only-copy.txt",
    ]);
    const text = await troupe(["sessions", "show", session, "--diff"], { home });
    expect(text.stdout).toContain("-a year of work\n");
    expect(text.stdout).toContain("+changed\n");

    // The note for the model, and the entry from before the command.
    const entries = [...readJournalFile(path.join(home, "journal.db")).values()].flat();
    const [started] = entries.flatMap(({ entry }) => (entry.kind === "tool.started" ? [entry] : []));
    expect(started?.unkept).toContain("disk.img (its 9437184 bytes are over the 8388608 of one file)");
    const [finished] = entries.flatMap(({ entry }) => (entry.kind === "tool.finished" ? [entry] : []));
    expect(finished?.outcome.output).toContain(
      "[changed while this command ran: created: made.txt; modified: kept.txt; deleted: notes/only-copy.txt.]",
    );
    const [lost] = finished?.outcome.changes.filter(({ kind }) => kind === "deleted") ?? [];
    expect(lost?.beforeRef).toMatch(/^[0-9a-f]{64}$/);
    await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
    expect(execFileSync("ls", [workspace], { encoding: "utf8" })).toBe("disk.img\nkept.txt\nmade.txt\n");
  });
});
