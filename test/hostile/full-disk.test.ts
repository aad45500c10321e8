/**
 * A command that fills the disk of the home and of all workspaces. The disk is a small one in memory, in a mount namespace
 * of the test: that works for root and for ordinary users.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";

interface Report {
  flood: string;
  freeAfterFlood: number;
  warning: string;
  look: string;
  isWrittenWhileFull: boolean;
  resumedMs: number;
  written: string;
  burst: string;
  reserve: { hadReserve: boolean; plainError: string; isUsed: boolean; items: number };
  statuses: string[];
  divergences: unknown[];
}

const namespaces = process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
const program = join(import.meta.dirname, "full-disk-program.ts");

async function fillDisk(): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), "troupe-full-disk-"));
  try {
    const { stdout } = await promisify(execFile)("unshare", [...namespaces, process.execPath, program, folder]);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("a disk that a command fills", () => {
  let report: Report;
  beforeAll(async () => {
    report = await fillDisk();
  }, 300_000);

  it("keeps free space: the command is stopped while it runs, and its outcome has the numbers", () => {
    expect(report.flood).toMatch(
      /^stopped: the disk of the workspace has only .* free, and 16\.0 MiB have to stay free/,
    );
    expect(report.flood).toContain("disk.freeMb of policy.yaml");
    expect(report.freeAfterFlood).toBeGreaterThan(0);
  });

  it("lets calls that may write wait, tells the user why, and lets reads go on", () => {
    expect(report.warning).toMatch(/^calls that may write wait: the volume of .* has .* free, .* need 16\.0 MiB/);
    expect(report.warning).toContain("df -h");
    expect(report.isWrittenWhileFull).toBe(false);
    expect(report.look).toContain("big");
  });

  it("lets them go on by themselves when it has space again", () => {
    expect(report.written).toBe("completed");
    expect(report.resumedMs).toBeLessThan(60_000);
  });

  it("loses no entry of the journal when a fast command takes all of it, and every session ends", () => {
    expect(report.burst).toContain("the disk of the workspace has only");
    expect(report.statuses).toEqual(["completed", "completed", "completed", "completed"]);
    expect(report.divergences).toEqual([null, null, null, null]);
  });

  it("leaves the journal a reserve for the outcomes of running calls", () => {
    const { plainError, ...reserve } = report.reserve;
    expect(reserve).toEqual({ hadReserve: true, isUsed: true, items: 2 });
    expect(plainError).toContain("no space left");
  });
});
