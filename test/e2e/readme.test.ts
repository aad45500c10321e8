/** Every line of the root README that can be executed, as it is written there. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, it, type TestContext } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { cleanEnv } from "../harness/clean-env.ts";
import { troupe } from "../harness/cli.ts";
import { startInProcess } from "../harness/cli-in-process.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { writeFastDemo } from "../harness/fast-demo.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
const blocks = [...readme.matchAll(/```(\w*)\n(.*?)```/gs)].map(([, language = "", text = ""]) => ({ language, text }));
const blockOf = (language: string): string => blocks.find((block) => block.language === language)?.text ?? "";
const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => text.split("\n"))
  .map((line) => line.replace(/\s+#.*$/, ""))
  .filter((line) => line !== "");

/** Each command of the README, and the test that executes it. A new command without a test fails. */
const executedBy: Record<string, string> = {
  "npx -y pnpm@12 start": "finishes the session of a killed daemon after the next start",
  "npx -y pnpm@12 test": "the command that runs these tests",
  "npx -y pnpm@12 setup-cli": "test/e2e/launcher.test.ts",
  "cd path/to/your/project": "each test works in a folder of its own",
  'troupe run "Introduce yourselves"': "shows what the demo prints",
  "troupe up": "finishes the session of a killed daemon after the next start",
  'troupe run "hello"': "finishes the session of a killed daemon after the next start",
  "kill -9 <pid of the daemon>": "finishes the session of a killed daemon after the next start",
};

type Test = Pick<TestContext, "onTestFinished">;

/** A home whose every task plays the shipped demo, ten times faster. */
async function demoHome(test: Test): Promise<{ home: string; env: Record<string, string> }> {
  const home = await tempFolder("readme", test);
  return { home, env: { TROUPE_MODEL: `scripted/${await writeFastDemo(home, 10)}` } };
}

/** The lines without their times and tokens, which differ from run to run. */
function withoutTimes(text: string): string[] {
  return text
    .split("\n")
    .map((line) =>
      line
        .replace(/^ *\d+\.\d+s /, "")
        .replaceAll(/\d+(?:\.\d+)? (?:s|ms)\b|[\d,]+ tokens/g, "N")
        .trim(),
    )
    .filter((line) => line !== "");
}

describe.concurrent("the README", () => {
  it("names no command without a test", ({ expect }) => {
    expect([...new Set(commands)].sort()).toEqual(Object.keys(executedBy).sort());
    expect(manifest.scripts.start).toBe(manifest.scripts.troupe.concat(" up"));
    expect(manifest.scripts["setup-cli"]).toMatch(/ scripts\/setup-cli\.ts$/);
    expect(manifest.scripts.test).toMatch(/ scripts\/test\.ts$/);
  });

  it("shows what the demo prints", async ({ expect, onTestFinished }) => {
    const { home, env } = await demoHome({ onTestFinished });
    const { code, stderr } = await troupe(["run", "Introduce yourselves"], { home, env });
    expect(code).toBe(0);
    const printed = withoutTimes(stderr);
    const shown = withoutTimes(blockOf(""));
    expect(shown.length).toBeGreaterThan(5);
    // An ellipsis stands for the rest of a long line.
    const isPrinted = (line: string) =>
      printed.some((each) => each === line || each.startsWith(line.replace(/…$/, "")));
    expect(shown.filter((line) => !isPrinted(line))).toEqual([]);
    // The demo costs nothing, so a lost call of it needs no warning.
    expect(stderr).not.toContain("warning");
  });

  it("has a valid agent file, and the main agent may delegate to it", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("readme", { onTestFinished });
    await writeAgent(path.join(home, ".troupe", "agents"));
    const validated = await troupe(["agents", "validate"], { home });
    expect(validated).toMatchObject({ code: 0, stderr: "✓ valid: 1 usable agent, 0 errors, 0 warnings\n" });
    const shown = await troupe(["agents", "show", "licence-reader"], { home });
    expect(shown.stdout).toContain("Finds the licence of a dependency");
    const main = await troupe(["agents", "show", "main", "--json"], { home });
    expect(JSON.parse(main.stdout)).toMatchObject({ subagents: { allow: expect.arrayContaining(["*"]) } });
  });

  it("finishes the session of a killed daemon after the next start", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const { home, env } = await demoHome(test);
    const first = await startDaemon({ home, env, test });
    const running = startInProcess(["run", "hello"], { home, env });
    await running.waitForOutput(/main → researcher/);
    await first.kill();
    expect((await running.ended).code).toBe(5);
    const second = await startDaemonInProcess({ home, env, test });
    await until(async () => {
      const { sessions } = await second.client.sessions({});
      return sessions.length === 1 && sessions.every(({ status }) => status === "completed");
    });
    expect((await second.client.sessions({})).sessions).toHaveLength(1);
  });

  it("has a program that runs", async ({ expect, onTestFinished }) => {
    const server = await startModelServer({
      scenario: { agents: { main: [{ steps: [{ text: "Both are permissive." }] }] } },
    });
    onTestFinished(() => server.close());
    const home = await tempFolder("readme", { onTestFinished });
    await writeAgent(path.join(home, "agents"));
    // Below test/, where the package `troupe` is found.
    const folder = await mkdtemp(fileURLToPath(new URL("../.readme-", import.meta.url)));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const program = path.join(folder, "main.ts");
    await writeFile(program, blockOf("ts"));
    const env = { ...cleanEnv(home), ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: server.anthropicUrl };
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: home, env });
    expect(stdout).toMatch(/\nBoth are permissive\.\n$/);
  });
});

async function writeAgent(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "licence-reader.md"), blockOf("markdown"));
}
