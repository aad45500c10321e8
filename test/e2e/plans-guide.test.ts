/** Every command of docs/guides/plans.md, as it is written there, with the file that the guide shows. */
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { type CliResult, troupe } from "../harness/cli.ts";
import { commandsIn, readGuide, wordsOf } from "../harness/guide.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

it("the guide to plans works as it is written", { timeout: 180_000 }, async (test) => {
  const { expect } = test;
  const guide = await readGuide("plans");
  const home = await tempFolder("plans-guide", test);
  const work = await tempFolder("plans-guide-work", test);
  const step = { title: "Look", task: "name the files", agent: "researcher", after: [], successCriteria: "named" };
  const scenario = await writeScenario(home, {
    planner: [{ steps: [{ text: JSON.stringify({ steps: [{ id: "look", ...step, review: false }] }) }] }],
    researcher: [{ steps: [{ text: "Tokens are made in auth.ts." }] }],
    coder: [
      { when: { task: "the key is in the code" }, steps: [{ text: "Signed, with a key from outside." }] },
      { steps: [{ text: "Signed." }] },
    ],
    reviewer: [
      { when: { task: "a key from outside" }, steps: [{ text: '{"approved":true,"findings":[]}' }] },
      { steps: [{ text: '{"approved":false,"findings":["the key is in the code"]}' }] },
    ],
  });
  const env = { TROUPE_MODEL: `scripted/${scenario}` };
  const run = (line: string): Promise<CliResult> => troupe(wordsOf(line).slice(1), { home, cwd: work, env });

  const commands = commandsIn(guide);
  expect(commands).toEqual([
    'troupe plan "sign the tokens with RS256" --out plan.yaml',
    "troupe plan run plan.yaml",
    "troupe plan run plan.yaml --step build",
  ]);
  const [make = "", execute = "", oneStep = ""] = commands;
  expect(await run(make)).toMatchObject({ code: 0, stdout: expect.stringContaining("Look") });
  expect((await run(make)).stderr).toContain("plan.yaml exists");
  expect(await run(execute)).toMatchObject({ code: 0, stdout: expect.stringContaining("Tokens are made in auth.ts.") });

  const file = path.join(work, "plan.yaml");
  await rm(file);
  const [example = ""] = guide.blocks("yaml");
  await writeFile(file, example);
  const early = await run(oneStep);
  expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining("the step build waits for look") });
  const whole = await run(execute);
  expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining("Signed, with a key from outside.") });
  const again = await run(execute);
  expect([again.code, again.stdout]).toEqual([0, whole.stdout]);
  const alone = await run(oneStep);
  expect(alone.code, alone.stderr).toBe(0);
  expect(alone.stderr).toContain("completed before, and not repeated: look");
});
