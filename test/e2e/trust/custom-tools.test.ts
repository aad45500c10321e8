/** A tool in a plain file, in a real daemon: its agents have it, in its workspace, and a changed one without a restart. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../../harness/cli.ts";
import { startDaemon } from "../../harness/daemon.ts";
import { writeAgent } from "../../harness/home-files.ts";
import { writeScenario } from "../../harness/scenario-file.ts";
import { tempFolder } from "../../harness/temp-folder.ts";

const example = new URL("../../../examples/04-tool-file/dice.mjs", import.meta.url);

/** A daemon, and one agent of the user's who throws dice in whatever folder it works in. */
async function createFixture(test: Pick<TestContext, "onTestFinished">) {
  const home = await tempFolder("custom-tools", test);
  const [work, other] = [path.join(home, "work"), path.join(home, "other")];
  await Promise.all([mkdir(work), mkdir(other)]);
  // An agent without any usable tool would be refused before its run.
  await writeAgent(home, "player", { tools: ["dice", "read"] });
  const throwing = { tool: "dice", args: { thrown: [2, 5] } };
  const scenario = await writeScenario(home, { player: [{ steps: [{ calls: [throwing] }, { text: "thrown" }] }] });
  const daemon = await startDaemon({ home, test });
  const run = (...args: string[]) => troupe(args, { home, cwd: work });
  return {
    home,
    work,
    other,
    run,
    text: await readFile(example, "utf8"),
    async write(file: string, text: string): Promise<void> {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    },
    /** The tool's output, or the reason why it did not run. */
    async thrown(workspace = work): Promise<string> {
      const flags = ["--agent", "player", "--scenario", scenario, "--workspace", workspace, "--json"];
      const ran = await run("run", "throw", ...flags);
      if (ran.code !== 0) throw new Error(ran.stderr);
      const { entries } = await daemon.client.entries(JSON.parse(ran.stdout).runId);
      const outputs = entries.flatMap((entry) => (entry.kind === "tool.finished" ? [entry.outcome.output] : []));
      return outputs.join();
    },
  };
}

describe.concurrent("a tool in a file", { timeout: 120_000 }, () => {
  it("of the user is available everywhere, and reloaded when it changes", async ({ expect, onTestFinished }) => {
    const { home, other, text, write, thrown } = await createFixture({ onTestFinished });
    expect(await thrown()).toContain("is not granted");
    const file = path.join(home, "user", ".troupe", "tools", "dice.mjs");
    await write(file, text);
    expect(await thrown()).toBe("7");
    expect(await thrown(other)).toBe("7");
    await write(file, text.replace("String(", '"in all " + String('));
    expect(await thrown()).toBe("in all 7");
    await write(file, "export default {");
    expect(await thrown()).toContain("is not granted");
    await write(path.join(home, "tools", "dice.mjs"), text);
    expect(await thrown()).toBe("7");
  });

  it("of a project is available in it alone, after it is trusted", async ({ expect, onTestFinished }) => {
    const { work, other, text, write, thrown, run } = await createFixture({ onTestFinished });
    await write(path.join(work, ".troupe", "tools", "dice.mjs"), text);
    expect(await thrown()).toContain("is not granted");
    expect(await run("trust", "--yes")).toMatchObject({ code: 0 });
    expect(await thrown()).toBe("7");
    expect(await thrown(other)).toContain("is not granted");
    await write(path.join(work, ".troupe", "tools", "dice.mjs"), `${text}\n`);
    expect(await thrown()).toContain("is not granted");
  });
});
