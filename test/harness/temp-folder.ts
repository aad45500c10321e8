import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "vitest";

/** A folder of its own for one test, gone afterwards. The test is named because many may run at once. */
export async function tempFolder(name: string, test: Pick<TestContext, "onTestFinished">): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `troupe-${name}-`));
  test.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
