// Commands that flood the disk: each is stopped while it runs, or refused after its session has used its space.
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger, ToolCall } from "@troupe/core";
import { describe, expect } from "vitest";
import { createShellTool } from "../commands/shell.ts";
import { openSessionUsage } from "../disk/session-usage.ts";
import { createToolHost } from "../tool-host.ts";
import { limitDisk } from "./limit-disk.ts";
import { everyKind, type LinuxKind, runLine, sandboxTest as test } from "./sandbox.fixture.ts";

const megabyte = 1024 ** 2;
const session = "0198a000-0000-7000-8000-000000000001";
const other = "0198a000-0000-7000-8000-000000000002";
/** Slow enough for a disk of any speed to be looked at, and without end. */
const flood = "while :; do head -c 1000000 /dev/zero | tr '\\0' x >> big; sleep 0.02; done";

function usageOf(folder: string, sessionMb: number) {
  return openSessionUsage({ file: join(folder, "usage.json"), sessionMb, logger: silentLogger });
}

for (const kind of everyKind) {
  describe(`${kind}: a command that floods the disk`, () => {
    test("is stopped when its session has used its space, and the outcome has the numbers", async ({
      sandboxOf,
      folder,
      workspace,
    }) => {
      const usage = usageOf(folder, 20);
      const sandbox = limitDisk(await sandboxOf(kind), { freeMb: 0, usage });
      const end = await runLine(sandbox, workspace, flood, { session });
      expect(end.reason).toBe("disk");
      expect(end.diskNote).toMatch(
        /may add 20\.0 MiB .*\(disk\.sessionMb of policy\.yaml\).* has written at least .* of the 20\.0 MiB that were left/,
      );
      expect(usage.leftOf(session)).toBeLessThanOrEqual(0);
      expect(usage.leftOf(other)).toBe(20 * megabyte);
      // The number outlives this process.
      await expect.poll(() => usageOf(folder, 20).usedBy(session)).toBe(usage.usedBy(session));
    });

    test("is stopped when less space is free than has to stay", async ({ sandboxOf, folder, workspace }) => {
      const tooMuchMb = 1024 ** 3;
      const sandbox = limitDisk(await sandboxOf(kind), { freeMb: tooMuchMb, usage: usageOf(folder, 20) });
      const end = await runLine(sandbox, workspace, "sleep 60", { session });
      expect(end.reason).toBe("disk");
      expect(end.diskNote).toMatch(/only .* free, and .* have to stay free \(disk\.freeMb of policy\.yaml\)/);
    });
  });
}

test("a command that changes a large file a little, or only reads, is not charged for the file", async ({
  sandboxOf,
  folder,
  workspace,
}) => {
  const usage = usageOf(folder, 20);
  const kind: LinuxKind = "process-group";
  const sandbox = limitDisk(await sandboxOf(kind), { freeMb: 0, usage });
  await writeFile(join(workspace, "large"), Buffer.alloc(40 * megabyte, 1));
  expect(await runLine(sandbox, workspace, "echo more >> large; cat large | wc -c", { session })).toMatchObject({
    reason: "exited",
    code: 0,
  });
  expect(usage.usedBy(session)).toBeLessThan(20 * megabyte);
});

test("one file is no larger than the space of a session", async ({ sandboxOf, workspace }) => {
  const sandbox = await sandboxOf("process-group", {}, { fileBytesMax: 2 * megabyte });
  await runLine(sandbox, workspace, "head -c 9000000 /dev/zero > big");
  expect((await stat(join(workspace, "big"))).size).toBe(2 * megabyte);
});

test("calls that may write are refused after the space is used, and others run", async ({
  sandboxOf,
  folder,
  workspace,
}) => {
  const usage = usageOf(folder, 1);
  const host = createToolHost({ tools: [createShellTool({ sandbox: await sandboxOf("process-group") })], usage });
  const grant = { tools: ["shell"], agents: [], writes: [] };
  const call = ToolCall.parse({ id: "1", name: "shell", args: { command: "echo ran" } });
  const run = (of: string) =>
    host.run(call, {
      ...{ session: of, run: of, agent: "main", workspace, grant, signal: new AbortController().signal },
      ...{ idempotencyKey: `${of}/1/0`, approved: true, plan: null },
    });
  usage.add(session, 3 * megabyte);
  expect(await run(session)).toMatchObject({
    output: expect.stringMatching(
      /nothing was started: .* added about 3\.0 MiB .* 1\.0 MiB are allowed \(disk\.sessionMb/,
    ),
    error: { type: "tool_error", recoverable: false },
  });
  expect((await run(other)).output).toContain("ran");
});
