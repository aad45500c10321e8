/** Tests the workbench: agents of one session exchange files byte for byte, and other workspaces cannot read them. */
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolContext, ToolOutcome } from "@troupe/core";
import { hashText, notStartedResponse, permanentError, sealEntry } from "@troupe/core/internal";
import { createMemoryBlobs, createSimulatedClock } from "@troupe/core/memory";
import type { Tool } from "@troupe/core/tool";
import { describe, expect } from "vitest";
import { rootRequest } from "../../packages/runtime/src/host/host-deps.test-helper.ts";
import { createMemoryTools } from "../../packages/tools/src/memory/create-memory-tools.ts";
import { workbenchBytesMax } from "../../packages/tools/src/memory/workbench.ts";
import { workspaceTest as test } from "../../packages/tools/src/workspace.fixture.ts";

const grant = { tools: ["workbench_upload", "workbench_download"], agents: [], writes: [] };
const child = "00000000-0000-7000-8000-0000000000c1";
const otherSession = "00000000-0000-7000-8000-0000000000f1";

type Call = (tool: Tool, args: unknown, overrides?: Partial<ToolContext>) => Promise<ToolOutcome>;

async function openWorkbench(folder: string, call: Call, entries: string[] = []) {
  const [ours, foreign] = [join(folder, "ours"), join(folder, "foreign")];
  await Promise.all([mkdir(ours), mkdir(foreign)]);
  const blobs = createMemoryBlobs();
  const clock = createSimulatedClock(Date.parse("2026-11-18T12:00:00.000Z"));
  const parts = { memoryFolder: join(folder, "memory"), blobs, clock, journal: { readRun: async () => entries } };
  const named = (name: string): Tool => {
    const tool = createMemoryTools(parts).find(({ spec }) => spec.name === name);
    if (!tool) throw new Error(`no ${name}`);
    return tool;
  };
  const context = { workspace: ours, grant };
  return {
    ours,
    foreign,
    blobs,
    upload: (local_path: string, remote_path: string, changes: Partial<ToolContext> = {}, more: object = {}) =>
      call(named("workbench_upload"), { local_path, remote_path, ...more }, { ...context, ...changes }),
    download: (remote_path: string, local_path: string, changes: Partial<ToolContext> = {}, more: object = {}) =>
      call(named("workbench_download"), { remote_path, local_path, ...more }, { ...context, ...changes }),
  };
}

describe("the workbench", () => {
  test("carries a child's file to its parent, byte for byte, also into another workspace", async ({ folder, call }) => {
    const { ours, foreign, upload, download, blobs } = await openWorkbench(folder, call);
    const bytes = Buffer.from([0, 255, 13, 10, 0xc3, 0x28]);
    await writeFile(join(foreign, "a.bin"), bytes);
    const uploaded = await upload("a.bin", "out/a.bin", { run: child, workspace: foreign });
    expect(uploaded).toMatchObject({ error: null, artifacts: [{ name: "out/a.bin" }] });
    expect(Buffer.from((await blobs.get(uploaded.artifacts[0]?.ref ?? "")) ?? [])).toEqual(bytes);
    expect(await download("out/a.bin", "deep/b.bin")).toMatchObject({ error: null, filesCreated: ["deep/b.bin"] });
    expect(await readFile(join(ours, "deep/b.bin"))).toEqual(bytes);
  });

  test("has the latest file under a name", async ({ folder, call }) => {
    const { ours, upload, download } = await openWorkbench(folder, call);
    for (const text of ["one", "two"]) {
      await writeFile(join(ours, "a"), text);
      expect((await upload("a", "x")).artifacts).toEqual([{ name: "x", ref: hashText(text) }]);
    }
    await download("x", "b");
    expect(await readFile(join(ours, "b"), "utf8")).toBe("two");
  });

  test("of another session is read if it is named and belongs to the same workspace", async ({ folder, call }) => {
    const { ours, foreign, upload, download } = await openWorkbench(folder, call);
    await writeFile(join(ours, "a"), "hello");
    await upload("a", "x", { session: otherSession });
    expect((await download("x", "b")).error).toMatchObject({
      message: expect.stringContaining("it is empty"),
    });
    expect((await download("x", "b", {}, { session_id: otherSession })).error).toBeNull();
    const abroad = await download("x", "b", { workspace: foreign }, { session_id: otherSession });
    expect(abroad.error?.message).toContain("it is empty");
  });

  test("is written by the runs of its own session alone", async ({ folder, call, context }) => {
    const { ours, upload } = await openWorkbench(folder, call);
    await writeFile(join(ours, "a"), "hello");
    expect((await upload("a", "x", {}, { session_id: otherSession })).error).toMatchObject({ type: "permission" });
    expect((await upload("a", "x", {}, { session_id: context.session })).error).toBeNull();
  });

  test("suggests similar names", async ({ folder, call }) => {
    const { ours, upload, download } = await openWorkbench(folder, call);
    await writeFile(join(ours, "a"), "hello");
    await upload("a", "report.html");
    expect((await download("reprot.html", "b")).error?.message).toContain("did you mean report.html?");
  });

  test("treats paths as names: they escape nothing", async ({ folder, call }) => {
    const { ours, upload, download } = await openWorkbench(folder, call);
    await writeFile(join(ours, "a"), "hello");
    await writeFile(join(folder, "secret"), "secret");
    for (const name of ["../../secret", "/etc/passwd", "..", ".", "a/../../b", "C:\\x", "~", "%00", "__proto__"]) {
      expect((await download(name, "b")).error).toMatchObject({ type: "params" });
      expect((await upload("a", name)).error).toBeNull();
      expect((await download(name, "b")).error).toBeNull();
      expect(await readFile(join(ours, "b"), "utf8")).toBe("hello");
    }
    for (const session_id of ["../x", "..", "/tmp", "x"]) {
      expect((await download("x", "b", {}, { session_id })).error).toMatchObject({ type: "params" });
    }
    expect(await readFile(join(folder, "secret"), "utf8")).toBe("secret");
  });
});

describe("the workbench obeys the rules of the workspace:", () => {
  test("a file outside of it cannot be uploaded", async ({ folder, call }) => {
    const { ours, upload } = await openWorkbench(folder, call);
    await writeFile(join(folder, "secret"), "secret");
    await symlink("../secret", join(ours, "link"));
    for (const path of ["../secret", join(folder, "secret"), "link"]) {
      expect((await upload(path, "x")).error).toMatchObject({ type: "permission" });
    }
    expect((await upload("missing", "x")).error?.message).toContain("missing");
    expect((await upload(".", "x")).error).not.toBeNull();
  });

  test("a file that is too large cannot be uploaded", async ({ folder, call }) => {
    const { ours, upload } = await openWorkbench(folder, call);
    await writeFile(join(ours, "large"), Buffer.alloc(workbenchBytesMax + 1));
    expect((await upload("large", "x")).error?.message).toContain(`larger than ${workbenchBytesMax}`);
  });

  test.for([
    ["../x", {}],
    [".troupe/tools/evil.mjs", {}],
    [".mcp.json", {}],
    [".git/hooks/pre-commit", {}],
    ["src/a", { writes: [["test"]] }],
    ["a", { writes: [[]] }],
  ] as const)("no file is downloaded to %s under %j", async ([path, scope], { folder, call }) => {
    const { ours, upload, download } = await openWorkbench(folder, call);
    await writeFile(join(ours, "a.txt"), "hello");
    await writeFile(join(ours, "target"), "as it was");
    await symlink("target", join(ours, "link"));
    await upload("a.txt", "x");
    const writes = "writes" in scope ? scope.writes.map((folders) => [...folders]) : [];
    expect((await download("x", path, { grant: { ...grant, writes } })).error).toMatchObject({ type: "permission" });
    expect(await readFile(join(ours, "target"), "utf8")).toBe("as it was");
  });

  test.for(["target", "link"])(
    "an existing file is not overwritten, also not by %s",
    async (path, { folder, call }) => {
      const { ours, upload, download } = await openWorkbench(folder, call);
      await writeFile(join(ours, "a.txt"), "hello");
      await writeFile(join(ours, "target"), "as it was");
      await symlink("target", join(ours, "link"));
      await upload("a.txt", "x");
      expect((await download("x", path)).error?.message).toContain("other content");
      expect(await readFile(join(ours, "target"), "utf8")).toBe("as it was");
      expect((await download("x", "a.txt")).error).toBeNull();
    },
  );
});

describe("a file that a child made in its own folder", () => {
  /** A child of the run that calls has settled with these artifacts. */
  function settledWith(artifacts: { name: string; ref: string }[], index: number): string {
    const request = rootRequest({ run: child, session: otherSession });
    const response = { ...notStartedResponse(request, "completed", permanentError("params", "x")), artifacts };
    const head = { v: 1 as const, session: otherSession, run: child, index, epoch: 1, host: "a", at: 1, prev: null };
    return sealEntry(head, { kind: "child.settled", step: 1, call: 0, item: 0, attempt: 1, response }).text;
  }

  test("is fetched by its name; the newest counts, and an older one has its reference", async ({ folder, call }) => {
    const entries: string[] = [];
    const { ours, blobs, download } = await openWorkbench(folder, call, entries);
    const [older, newer] = await Promise.all(["older", "newer"].map((text) => blobs.put(Buffer.from(text))));
    entries.push(
      settledWith([{ name: "a.txt", ref: older ?? "" }], 0),
      settledWith([{ name: "a.txt", ref: newer ?? "" }], 1),
    );
    expect(await download("a.txt", "1.txt")).toMatchObject({ error: null });
    expect(await readFile(join(ours, "1.txt"), "utf8")).toBe("newer");
    expect(await download(older?.slice(0, 12) ?? "", "2.txt")).toMatchObject({ error: null });
    expect(await readFile(join(ours, "2.txt"), "utf8")).toBe("older");
  });

  test("is suggested for another name; a branch is not a file", async ({ folder, call }) => {
    const { download } = await openWorkbench(folder, call, [
      settledWith(
        [
          { name: "made.txt", ref: hashText("x") },
          { name: "branch troupe/1", ref: hashText("y").slice(0, 40) },
        ],
        0,
      ),
    ]);
    expect((await download("mad.txt", "1.txt")).error?.message).toContain("did you mean made.txt?");
    expect((await download("branch troupe/1", "1.txt")).error?.message).toContain("the workbench has no file");
    expect((await download("made.txt", "1.txt")).error?.message).toContain("is no longer stored");
  });
});
