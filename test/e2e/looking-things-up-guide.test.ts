/** Every command of docs/guides/looking-things-up.md, as it is written there, with the session that the guide shows. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { commandsIn, readGuide, wordsOf } from "../harness/guide.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const scenario = {
  agents: {
    main: [
      {
        steps: [
          {
            text: "I let the researcher look at the test.",
            calls: [delegate("researcher", "Why is the cart test flaky? Read cart.test.js.")],
          },
          { text: "The cart test is flaky because it waits for 50 ms. Wait for the **total** instead." },
        ],
      },
    ],
    researcher: [
      {
        steps: [
          { text: "First I read the test.", calls: [{ tool: "read", args: { path: "cart.test.js" } }] },
          { text: "The test sleeps for 50 ms. A slow machine needs longer, so the total is not there yet." },
        ],
      },
    ],
  },
};

const testFile = `test("the total follows the cart", async () => {
  cart.add("tea", 4.5);
  await sleep(50);
  expect(page.total()).toBe(4.5);
});
`;

/** The words of an output: ids, times, figures and the width of columns differ from run to run. */
function shapeOf(output: string): string {
  return output
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{8}\b|\[version [0-9a-f]+\]/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\d( [\d:]+)?/g, "TIME")
    .replaceAll(/≈ |\$[\d.]+/g, "COST")
    .replaceAll(/[\d.,]+ (ms|s|tokens|characters)\b/g, "FIGURE")
    .replaceAll(/\b[\d,.]+\b/g, "N")
    .replaceAll(/ +/g, " ")
    .trim();
}

it("the guide to looking things up works as it is written", { timeout: 180_000 }, async (test) => {
  const { expect } = test;
  const guide = await readGuide("looking-things-up");
  const server = await startModelServer({ scenario });
  test.onTestFinished(() => server.close());
  const home = await tempFolder("looking-things-up", test);
  const work = await tempFolder("looking-things-up-work", test);
  await writeFile(path.join(work, "cart.test.js"), testFile);
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-any",
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    TROUPE_MODEL: "anthropic/claude-sonnet-5",
    TROUPE_CONFIG: path.join(home, "config.yaml"),
  };
  await writeFile(env.TROUPE_CONFIG, "");
  const run = async (line: string) => {
    const { code, stdout, stderr } = await troupe(wordsOf(line).slice(1), { home, cwd: work, env });
    expect(code, stderr).toBe(0);
    return { stdout, shown: shapeOf(stdout + stderr) };
  };

  const commands = commandsIn(guide);
  const outputs = guide.blocks("text").map(shapeOf);
  expect(commands).toEqual([
    'troupe run "Find out why the cart test is flaky"',
    "troupe search flaky",
    'troupe search "sleep*" --agent researcher --since 7d',
    "troupe sessions show last --log",
    "troupe costs",
    "troupe costs --by day --since 7d",
    "troupe costs --by role --csv",
    "troupe stats",
  ]);
  const [start = "", flaky = "", sleep = "", log = "", costs = "", days = "", csv = "", stats = ""] = commands;
  expect((await run(start)).stdout).toContain("Wait for the **total** instead.");
  const checked = [flaky, sleep, log, costs, days, csv, stats];
  expect(outputs).toHaveLength(checked.length);
  for (const [i, line] of checked.entries()) {
    const { shown } = await run(line);
    expect(shown, line).toBe(outputs[i]);
  }
  expect((await run(csv)).stdout.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^role,runs,tokens,cost_usd,/),
    expect.stringMatching(/^main,1,\d+,0\.\d+,/),
  ]);
  const phrase = await run("troupe search '\"slow machine\"'");
  expect(phrase.stdout).toContain("A slow machine needs longer");
});
