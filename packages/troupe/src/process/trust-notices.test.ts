import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProjectTrust } from "@troupe/tools";
import { expect, test } from "vitest";
import { createLoggingTrust } from "./trust-notices.ts";

test("an answer of the user counts at once, also if the project was inspected just before", async () => {
  await using root = await mkdtempDisposable(join(tmpdir(), "troupe-trust-"));
  const [project, file] = [join(root.path, "project"), join(root.path, "trust.json")];
  await mkdir(join(project, ".troupe", "tools"), { recursive: true });
  await writeFile(join(project, ".troupe", "tools", "dice.mjs"), "");
  const warnings: string[] = [];
  const logger = { warn: (_fields: object, message: string) => void warnings.push(message) };
  const trust = createLoggingTrust({ file, logger: logger as never });
  expect((await trust.inspect(project)).status).toBe("untrusted");
  // Another process stores the answer.
  const answers = createProjectTrust({ file });
  const decision = { at: "2026-11-20T12:00:00.000Z", by: "me" };
  await answers.record(await answers.inspect(project), { decision: "accepted", ...decision });
  expect((await trust.inspect(project)).status).toBe("trusted");
  await answers.forget(project);
  expect((await trust.inspect(project)).status).toBe("untrusted");
  expect(warnings).toEqual([expect.stringContaining(".troupe/tools/dice.mjs: ignored")]);
});
