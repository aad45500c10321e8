/** Every command of docs/guides/command-line.md, in its order, with the outputs that the guide shows. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { commandsIn, readGuide, wordsOf } from "../harness/guide.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const scenario = {
  agents: {
    main: [
      { when: { task: "Call the tool" }, steps: [{ calls: [{ tool: "probe", args: { word: "ready" } }] }] },
      {
        when: { task: "summary" },
        steps: [
          { calls: [{ tool: "write", args: { path: "SUMMARY.md", content: "A shop with a cart.\n" } }] },
          { text: "I wrote SUMMARY.md: the project is a shop with a cart." },
        ],
      },
      { steps: [{ text: "ready" }] },
    ],
  },
};

/**
 * The lines of an output in any order, because two streams make it. Ids, times, figures, paths and the width of columns differ
 * from run to run.
 */
function shapeOf(output: string): string {
  return output
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{8}\b/g, "ID")
    .replaceAll(/#token=\S+/g, "TOKEN")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/(\/[\w.-]+)+\/(user|work)\b/g, "FOLDER")
    .replaceAll(/\d{4}-\d\d-\d\d( [\d:]+)?/g, "TIME")
    .replaceAll(/≈ ?|\$[\d.]+/g, "COST")
    .replaceAll(/[\d.,]+ (ms|s|min|tokens|characters)\b/g, "FIGURE")
    .replaceAll(/\b[\d.,]+\b/g, "N")
    .replaceAll(/ +/g, " ")
    .trim()
    .split("\n")
    .sort()
    .join("\n");
}

it("the guide to the command line works as it is written", { timeout: 240_000 }, async (test) => {
  const { expect } = test;
  const guide = await readGuide("command-line");
  const server = await startModelServer({ scenario });
  test.onTestFinished(() => server.close());
  const home = await tempFolder("command-line", test);
  const work = path.join(home, "work");
  await mkdir(work);
  await writeFile(path.join(work, "cart.js"), "export const cart = [];\n");
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-any",
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    TROUPE_HOME: path.join(home, "user", "troupe"),
  };
  const command = (line: string) => troupe(wordsOf(line).slice(1), { home, cwd: work, env });
  test.onTestFinished(async () => {
    await command("troupe down");
  });
  const commands = commandsIn(guide);
  expect(commands.length).toBeGreaterThanOrEqual(10);
  const shown = guide.blocks("text").map(shapeOf);
  const outputs: string[] = [];
  for (const line of commands) {
    const { code, stdout, stderr } = await command(line);
    expect(code, `${line}: ${stderr}`).toBe(0);
    outputs.push(stdout + stderr);
  }
  // Other programs of this machine decide what setup finds, and the lines of a run come in the order of its work.
  for (const [i, line] of commands.entries()) {
    if (/^troupe (setup|run|completion|up|ps)\b/.test(line)) continue;
    expect(shown, line).toContain(shapeOf(outputs[i] ?? ""));
  }
  const outputOf = (start: string) => outputs[commands.findIndex((line) => line.startsWith(start))];
  expect(outputOf("troupe setup")).toContain("with model: anthropic/claude-sonnet-5");
  expect(outputOf("troupe run")).toMatch(/^I wrote SUMMARY.md: the project is a shop with a cart.$/m);
  expect(outputOf("troupe up")).toMatch(/^ready {2}http:/m);
  expect(outputOf("troupe ps")).toMatch(/^daemon {2}pid \d+/m);
  expect(outputOf("troupe completion")).toContain("complete -F _troupe troupe");
});
