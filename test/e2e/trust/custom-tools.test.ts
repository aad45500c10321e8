/** A tool in a plain file, in a real daemon: its agents have it, in its workspace, and a changed one without a restart. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../../harness/cli.ts";
import { startDaemon } from "../../harness/daemon.ts";
import { writeAgent } from "../../harness/home-files.ts";
import { writeScenario } from "../../harness/scenario-file.ts";
import { useShared } from "../../harness/shared-fixture.ts";
import { tempFolder } from "../../harness/temp-folder.ts";

const example = new URL("../../../examples/04-tool-file/dice.mjs", import.meta.url);

/** A daemon in a process of its own, whose loader of tool files is not that of the tests, and one agent who throws dice. */
const daemonOfFile = useShared(async (test) => {
  const home = await tempFolder("custom-tools", test);
  // An agent without any usable tool would be refused before its run.
  await writeAgent(home, "player", { tools: ["dice", "read"] });
  const throwing = { tool: "dice", args: { thrown: [2, 5] } };
  const scenario = await writeScenario(home, { player: [{ steps: [{ calls: [throwing] }, { text: "thrown" }] }] });
  return { home, scenario, daemon: await startDaemon({ home, test }) };
});

/** Two folders in which the agent works. */
async function createFixture(test: Pick<TestContext, "onTestFinished">) {
  const { home, scenario, daemon } = daemonOfFile();
  const root = await tempFolder("custom-tools-work", test);
  const [work, other] = [path.join(root, "work"), path.join(root, "other")];
  await Promise.all([mkdir(work), mkdir(other)]);
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

describe("a tool in a file", { timeout: 120_000 }, () => {
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

  // The last test: the user's tool is there from here on.
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
});
