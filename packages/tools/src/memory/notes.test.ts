/** A note outlives its session, belongs to one workspace, and is not lost when several processes write. */
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { createNotesTool } from "./notes.ts";

const granted = { tools: ["notes"], agents: [], writes: [[]] };
const clock = createSimulatedClock(Date.parse("2026-11-18T12:00:00.000Z"));
const other = "00000000-0000-7000-8000-0000000000ff";

/** Creates a workspace and a home folder, and a function that calls the tool. */
async function createNotesFolder(folder: string, call: (...args: never[]) => unknown) {
  const [workspace, memoryFolder] = [join(folder, "work"), join(folder, "home", "memory")];
  await mkdir(workspace);
  let calls = 0;
  const notes = (args: object, changes: Partial<ToolContext> = {}) => {
    calls += 1;
    clock.advance(1_000);
    const run = call as unknown as (...given: unknown[]) => Promise<import("@troupe/core").ToolOutcome>;
    const tool = createNotesTool({ memoryFolder, clock });
    return run(tool, args, { workspace, grant: granted, idempotencyKey: `run/${calls}/0`, ...changes });
  };
  const idOf = (output: string): string => /[0-9a-f]{10}/.exec(output)?.[0] ?? "";
  return { workspace, memoryFolder, notes, idOf };
}

describe("notes", () => {
  test("are visible to a later session, but not in another workspace", async ({ folder, call }) => {
    const { notes, idOf } = await createNotesFolder(folder, call);
    const id = idOf(
      (await notes({ action: "add", text: "Tests need redis.\nStart it first.", title: "Tests" })).output,
    );
    await notes({ action: "add", text: "\n  The API is in src/api\nand more" }, { agent: "coder" });
    const later = { session: other, run: other };
    const list = (await notes({ action: "list" }, later)).output.split("\n");
    expect(list).toEqual([
      expect.stringMatching(/^[0-9a-f]{10} {2}2026-11-18 {2}coder {2}The API is in src\/api$/),
      expect.stringMatching(new RegExp(`^${id} {2}2026-11-18 {2}main {2}Tests$`)),
    ]);
    expect((await notes({ action: "read", id }, later)).output).toMatch(
      /^Tests .*\n\nTests need redis\.\nStart it first\.$/,
    );
    await mkdir(join(folder, "elsewhere"));
    const elsewhere = { workspace: join(folder, "elsewhere") };
    expect((await notes({ action: "list" }, elsewhere)).output).toBe("This workspace has no notes yet.");
    expect((await notes({ action: "read", id }, elsewhere)).error).toMatchObject({ type: "params" });
  });

  test("are added once, with any number of tries", async ({ folder, call }) => {
    const { notes } = await createNotesFolder(folder, call);
    const same = { idempotencyKey: "run/7/0" };
    const first = await notes({ action: "add", text: "once" }, same);
    expect((await notes({ action: "add", text: "once" }, same)).output).toBe(first.output);
    expect((await notes({ action: "list" })).output.split("\n")).toHaveLength(1);
  });

  test("that are removed stay removed", async ({ folder, call }) => {
    const { notes, idOf } = await createNotesFolder(folder, call);
    const id = idOf((await notes({ action: "add", text: "old" })).output);
    for (let i = 0; i < 2; i++) expect((await notes({ action: "remove", id })).error).toBeNull();
    expect((await notes({ action: "list" })).output).toContain("no notes");
  });

  test("of several concurrent processes are all kept", async ({ folder, call }) => {
    const { notes } = await createNotesFolder(folder, call);
    const texts = Array.from({ length: 30 }, (_, i) => `note ${i}`);
    await Promise.all(texts.map((text) => notes({ action: "add", text })));
    expect((await notes({ action: "list" })).output.split("\n")).toHaveLength(30);
  });

  test("are files in the home, private, and never in the workspace", async ({ folder, call }) => {
    const { notes, workspace, memoryFolder } = await createNotesFolder(folder, call);
    await notes({ action: "add", text: "x" });
    await notes({ action: "plan", items: [{ text: "x" }] });
    expect(await readdir(workspace)).toEqual([]);
    const files = (await readdir(memoryFolder, { recursive: true })).filter((name) => name.endsWith(".json"));
    expect(files).toHaveLength(2);
    for (const file of files) expect((await stat(join(memoryFolder, file))).mode & 0o777).toBe(0o600);
  });

  test("with paths as ids reach no file", async ({ folder, call }) => {
    const { notes, memoryFolder } = await createNotesFolder(folder, call);
    await mkdir(memoryFolder, { recursive: true });
    const secret = join(folder, "home", "secret.json");
    await writeFile(
      secret,
      '{"id":"1","title":"t","text":"s","agent":"a","session":"s","at":"2026-11-18T12:00:00.000Z"}',
    );
    for (const id of ["../../secret", "../../../home/secret", "..", ".", "secret.json", "%2e%2e/secret"]) {
      expect((await notes({ action: "read", id })).error).toMatchObject({ type: "params" });
      await notes({ action: "remove", id });
    }
    expect((await stat(secret)).isFile()).toBe(true);
  });

  test("that are damaged are skipped", async ({ folder, call }) => {
    const { notes, memoryFolder } = await createNotesFolder(folder, call);
    await notes({ action: "add", text: "sound" });
    const [file] = (await readdir(memoryFolder, { recursive: true })).filter((name) => name.endsWith(".json"));
    await writeFile(join(memoryFolder, file ?? "", "..", "damaged.json"), '{"id":');
    expect((await notes({ action: "list" })).output.split("\n")).toHaveLength(1);
  });

  test.for([
    [{ action: "add" }, "add needs text"],
    [{ action: "read" }, "read needs the id"],
    [{ action: "remove" }, "remove needs the id"],
    [{ action: "read", id: "nope" }, "the note nope does not exist, and no other note does; write one with add"],
    [{ action: "forget" }, "the arguments of notes are invalid"],
    [{ action: "add", text: "x".repeat(20_001) }, "the arguments of notes are invalid"],
  ] as const)("requested with %j report the missing argument", async ([args, message], { folder, call }) => {
    const { notes } = await createNotesFolder(folder, call);
    expect((await notes(args)).error).toMatchObject({ type: "params", message: expect.stringContaining(message) });
  });
});

describe("a plan", () => {
  const items = [
    { text: "look", status: "completed" },
    { text: "change", status: "in_progress" },
    { text: "test", status: "pending" },
  ];

  test("is replaced as a whole, and shown", async ({ folder, call }) => {
    const { notes } = await createNotesFolder(folder, call);
    expect((await notes({ action: "plan" })).output).toBe("This run has no plan yet. Pass items to write one.");
    expect((await notes({ action: "plan", items })).output).toBe("1. [x] look\n2. [>] change\n3. [ ] test");
    await notes({ action: "plan", items: items.slice(0, 1) });
    expect((await notes({ action: "plan" })).output).toBe("1. [x] look");
  });

  test("belongs to one run; another turn of the session finds its agent's plan", async ({ folder, call }) => {
    const { notes } = await createNotesFolder(folder, call);
    await notes({ action: "plan", items });
    await notes({ action: "plan", items: [{ text: "mine" }] }, { run: other, agent: "coder" });
    expect((await notes({ action: "plan" })).output).toContain("change");
    const nextTurn = { run: "00000000-0000-7000-8000-0000000000aa" };
    expect((await notes({ action: "plan" }, nextTurn)).output).toContain("change");
    expect((await notes({ action: "plan" }, { ...nextTurn, agent: "coder" })).output).toBe("1. [ ] mine");
    expect((await notes({ action: "plan" }, { ...nextTurn, session: other })).output).toBe(
      "This run has no plan yet. Pass items to write one.",
    );
  });
});
