/** Files of a mail come from the folder of the run, and from nowhere else. */
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readAttachments } from "./read-attachments.ts";

let made: string;
let folder: string;

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "troupe-attachments-"));
  folder = join(made, "run");
  await mkdir(join(folder, "sub"), { recursive: true });
  await writeFile(join(folder, "sub", "report.pdf"), "%PDF");
  await writeFile(join(made, "secret.txt"), "secret");
  await symlink(join(made, "secret.txt"), join(folder, "link.txt"));
  await writeFile(join(folder, "large.bin"), "");
  await truncate(join(folder, "large.bin"), 20_000_001);
});
afterAll(() => rm(made, { recursive: true }));

describe("attachments", () => {
  it("have their name, type and bytes", async () => {
    const [report] = await readAttachments(["sub/report.pdf"], { folder });
    expect(report).toMatchObject({ name: "report.pdf", contentType: "application/pdf" });
    expect(Buffer.from(report?.content ?? "").toString()).toBe("%PDF");
  });

  it.each([
    { path: "none.pdf", type: "params", reason: "does not exist" },
    { path: "sub", type: "params", reason: "is not a file" },
    { path: "large.bin", type: "params", reason: "larger than 20 MB" },
    { path: "../secret.txt", type: "permission", reason: "outside the folder" },
    { path: "link.txt", type: "permission", reason: "outside the folder" },
    { path: "a\0b", type: "params", reason: "does not exist" },
  ])("$path: $reason", async ({ path, type, reason }) => {
    const attempt = readAttachments(["sub/report.pdf", path], { folder });
    await expect(attempt).rejects.toMatchObject({
      type,
      param: "attachments.1",
      message: expect.stringContaining(reason),
    });
  });
});
