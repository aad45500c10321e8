// Two agents never silently overwrite each other: not in one process, not in two, not after a restart.
import { execFile } from "node:child_process";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ToolOutcome } from "@troupe/core";
import { describe, expect } from "vitest";
import { createScope } from "../../packages/runtime/src/host/effects/scope.test-helper.ts";
import { rootRequest, writeEntries } from "../../packages/runtime/src/host/host-deps.test-helper.ts";
import { fileTools } from "../../packages/tools/src/files/file-tools.test-helper.ts";
import { workspaceTest as test } from "../../packages/tools/src/workspace.fixture.ts";

const { read, write, edit, apply_patch } = fileTools();
const writers = [
  { name: "write", tool: write, args: { path: "a.md", content: "mine\n" } },
  { name: "edit", tool: edit, args: { path: "a.md", old: "one", new: "mine" } },
  {
    name: "apply_patch",
    tool: apply_patch,
    args: { patch: "*** Begin Patch\n*** Update File: a.md\n-one\n+mine\n*** End Patch" },
  },
];

describe.for(writers)("$name", ({ tool, args }) => {
  test("does not change a file that its run has not read", async ({ folder, call }) => {
    await writeFile(join(folder, "a.md"), "one\n");
    await call(read, { path: "a.md" }, { run: "another" });
    const { error } = await call(tool, args, { run: "this" });
    expect(error).toMatchObject({ type: "tool_error", message: expect.stringMatching(/has not seen.*read it first$/) });
    expect(await readFile(join(folder, "a.md"), "utf8")).toBe("one\n");
  });

  test("does not change a file that has changed since, and shows the difference", async ({ folder, call }) => {
    await writeFile(join(folder, "a.md"), "one\ntwo\n");
    await call(read, { path: "a.md" });
    await writeFile(join(folder, "a.md"), "one\nother\n");
    const { error } = await call(tool, args);
    expect(error?.message).toMatch(/another writer has changed it .*Read it again/);
    expect(error?.message).toMatch(/Changes since that version:\n@@ -1,2 \+1,2 @@\n one\n-two\n\+other$/);
    expect(await readFile(join(folder, "a.md"), "utf8")).toBe("one\nother\n");
  });

  test("may change a file that it has written itself", async ({ folder, call }) => {
    await call(write, { path: "a.md", content: "one\n" });
    expect((await call(tool, args)).error).toBeNull();
    expect(await readFile(join(folder, "a.md"), "utf8")).toBe("mine\n");
  });
});

describe("a named version", () => {
  test("means the content that was read", async ({ folder, call }) => {
    await writeFile(join(folder, "a.md"), "one\n");
    const [seen] = (await call(read, { path: "a.md" }, { run: "another" })).seen;
    const version = seen?.version?.slice(0, 12);
    expect((await call(write, { path: "a.md", content: "two\n", version })).error).toBeNull();
    expect((await call(edit, { path: "a.md", old: "two", new: "x", version })).error?.message).toContain(
      "another writer has changed it",
    );
  });

  test("of a deleted file is a conflict", async ({ call }) => {
    const { error } = await call(write, { path: "a.md", content: "x", version: "0123456789ab" });
    expect(error?.message).toContain("the file no longer exists (expected version 0123456789ab)");
  });
});

test("if the read content is unknown, the error shows the new content beside the current one", async ({
  folder,
  call,
}) => {
  await writeFile(join(folder, "a.md"), "one\n");
  const { error } = await call(write, { path: "a.md", content: "two\n", version: "0123456789ab" });
  expect(error?.message).toMatch(
    /Difference from the current content to your content:\n@@ -1,1 \+1,1 @@\n-one\n\+two$/,
  );
});

test("an announced edit is done, or nothing: also if the run has read the new content", async ({
  folder,
  call,
  plan,
  context,
}) => {
  const args = { path: "a.md", content: "two\n" };
  await writeFile(join(folder, "a.md"), "one\n");
  await call(read, { path: "a.md" });
  const announced = await plan(write, args);
  await writeFile(join(folder, "a.md"), "other\n");

  const later = fileTools();
  await call(later.read, { path: "a.md" });
  const running = later.write.bind(args, context).run({ ...context, plan: announced });
  await expect(running).rejects.toThrow("another writer has changed it");
  expect(await readFile(join(folder, "a.md"), "utf8")).toBe("other\n");
});

test("edits of one file in one turn are made one after the other", async ({ folder, call, context }) => {
  await writeFile(join(folder, "a.md"), "1\n2\n3\n4\n5\n");
  await call(read, { path: "a.md" });
  const outcomes = await Promise.all(
    ["1", "2", "3", "4", "5"].map((old) =>
      call(edit, { path: "a.md", old, new: `${old}!` }, { idempotencyKey: `${context.run}/2/${old}` }),
    ),
  );
  expect(outcomes.map(({ error }) => error)).toEqual([null, null, null, null, null]);
  expect(await readFile(join(folder, "a.md"), "utf8")).toBe("1!\n2!\n3!\n4!\n5!\n");
});

test("after a restart, a run knows the read versions from its journal", async ({ folder, call }) => {
  const { deps, request, pin } = await createScope();
  const bodies = (version: string) => [
    { kind: "run.opened" as const, request: rootRequest({ ...request }), pin },
    {
      kind: "tool.finished" as const,
      step: 1,
      call: 0,
      tool: "read",
      outcome: ToolOutcome.parse({ output: "one", seen: [{ path: "a.md", version }] }),
    },
  ];
  await writeFile(join(folder, "a.md"), "one\n");
  const [seen] = (await call(read, { path: "a.md" })).seen;
  await writeEntries(deps, request, bodies(seen?.version ?? ""));
  const { session, run } = request;
  const args = { path: "a.md", content: "two\n" };

  const restarted = fileTools({ journal: deps.journal });
  expect((await call(restarted.write, args, { session, run: "another" })).error?.message).toContain("read it first");
  expect((await call(restarted.write, args, { session, run })).error).toBeNull();
});

test("several processes that increment one file lose no update", async ({ folder }) => {
  await writeFile(join(folder, "count.txt"), "0\n");
  const helper = fileURLToPath(new URL("../../packages/tools/src/files/increment.test-helper.ts", import.meta.url));
  const times = 60;
  const counting = ["r1", "r2", "r3"].map((run) =>
    promisify(execFile)(process.execPath, [helper, folder, String(times), run]),
  );
  const ended = await Promise.all(counting);

  expect(await readFile(join(folder, "count.txt"), "utf8")).toBe(`${3 * times}\n`);
  expect(await readdir(folder)).toEqual(["count.txt"]);
  const conflicts = ended.map(({ stdout }) => (JSON.parse(stdout) as { conflicts: number }).conflicts);
  // Else they were never at it at the same time, and nothing was shown.
  expect(Math.max(...conflicts)).toBeGreaterThan(0);
}, 120_000);

describe("a leftover lock", () => {
  test("of a dead process is removed", async ({ folder, call }) => {
    await symlinkLock(folder, "troupe-lock:99999999:1:PLACE:x");
    expect((await call(write, { path: "a.md", content: "x" })).error).toBeNull();
    expect(await readdir(folder)).toEqual(["a.md"]);
  });

  test("of a process whose id was reused is removed, too", async ({ folder, call }) => {
    await symlinkLock(folder, `troupe-lock:${process.pid}:1:PLACE:x`);
    expect((await call(write, { path: "a.md", content: "x" })).error).toBeNull();
  });
});

/** A lock beside a.md, as a process of this machine would have made it. */
async function symlinkLock(folder: string, mark: string): Promise<void> {
  const { createHash } = await import("node:crypto");
  const { readlink } = await import("node:fs/promises");
  const { hostname } = await import("node:os");
  const place = `${hostname()}-${await readlink("/proc/self/ns/pid")}`.replaceAll(/[^\w.-]/g, "-");
  const id = createHash("sha256").update("a.md").digest("hex").slice(0, 24);
  await symlink(mark.replace("PLACE", place), join(folder, `.troupe-${id}.lock`));
}
