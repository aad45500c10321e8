/** The tarball of `pnpm pack-cli`, installed with npm outside the checkout: an empty folder, an empty home. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type CommandResult, run } from "../../scripts/lib/command.ts";
import { cleanEnvironment } from "../../scripts/lib/environment.ts";
import { cacheFolder, root } from "../../scripts/lib/project.ts";
import { startProgram } from "../harness/cli.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const installed = "lib/node_modules/@troupe/cli/dist";
const installTimeoutMs = 180_000;
let temporary = "";
let troupe = "";

beforeAll(async () => {
  temporary = await mkdtemp(path.join(tmpdir(), "troupe-bundle-"));
  await mkdir(path.join(temporary, "home"));
  const [, ...words] = manifest.scripts["pack-cli"].split(" ");
  expectSuccess(await run([process.execPath, ...words, "--out", temporary], { cwd: root, output: "capture" }));
  const [tarball = ""] = (await readdir(temporary)).filter((name) => name.endsWith(".tgz"));

  const prefix = path.join(temporary, "prefix");
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--cache", path.join(cacheFolder(), "npm")];
  const install = ["npm", "install", "--global", "--prefix", prefix, ...flags, path.join(temporary, tarball)];
  expectSuccess(await run(install, { cwd: temporary, output: "capture", env: npmEnvironment() }));
  troupe = path.join(prefix, "bin", "troupe");
}, installTimeoutMs);

afterAll(() => rm(temporary, { recursive: true, force: true }));

function expectSuccess({ code, output }: CommandResult): void {
  expect(code, output).toBe(0);
}

/** An empty home; only npm's settings of the machine (its registry) are kept. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const env = cleanEnvironment();
  return {
    ...env,
    HOME: path.join(temporary, "home"),
    npm_config_userconfig: env.npm_config_userconfig ?? path.join(homedir(), ".npmrc"),
    npm_config_loglevel: "error",
    npm_config_update_notifier: "false",
  };
}

describe("the bundled command line", () => {
  it("says its version", async () => {
    const home = await mkdtemp(path.join(temporary, "version-"));
    const { version } = JSON.parse(await readFile(path.join(root, "packages/cli/package.json"), "utf8"));
    const { code, stdout } = await startProgram([troupe, "--version"], { home }).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${version}\n` });
  });

  it("runs a scripted agent, with a tool of the user's own that imports from troupe", async ({ onTestFinished }) => {
    const home = await tempFolder("bundle", { onTestFinished });
    const tools = path.join(home, "user", ".troupe", "tools");
    await mkdir(tools, { recursive: true });
    await writeFile(path.join(tools, "dice.mjs"), diceTool);
    const agents = path.join(home, ".troupe", "agents");
    await mkdir(agents, { recursive: true });
    await writeFile(path.join(agents, "gambler.md"), gambler);
    const steps = [
      { calls: [{ tool: "dice", args: { thrown: [3, 4] } }] },
      { calls: [{ tool: "write", args: { path: "made.txt", content: "{{result.0.output}}" } }] },
      { text: "done" },
    ];
    const scenario = await writeScenario(home, { gambler: [{ steps }] });
    const args = ["run", "--json", "--agent", "gambler", "--scenario", scenario, "--workspace", ".", "write it"];
    const { code, stdout, stderr } = await startProgram([troupe, ...args], { home }).ended;
    expect(code, stdout + stderr).toBe(0);
    expect(RunResponse.parse(JSON.parse(stdout))).toMatchObject({ status: "completed", filesCreated: ["made.txt"] });
    expect(await readFile(path.join(home, "made.txt"), "utf8")).toBe("7");
  });

  it("starts the daemon with its page, until Ctrl-C", async ({ onTestFinished }) => {
    const home = await tempFolder("bundle", { onTestFinished });
    const daemon = startProgram([troupe, "up", "--port", "0", "--no-open", "--json"], { home });
    await daemon.waitForOutput(/"ready"/);
    const { url } = JSON.parse(daemon.stdout());
    expect(await (await fetch(url)).text()).toContain("<title>");
    daemon.process.kill("SIGINT");
    expect((await daemon.ended).code).toBe(0);
  });

  it("has the license of each library that its program contains", async () => {
    const text = await readFile(path.join(temporary, "prefix", installed, "program", "LICENSES.txt"), "utf8");
    for (const name of ["commander", "hono", "pino", "xstate", "yaml", "zod"]) {
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(\\S+\\)\n\n.*(licen[cs]e|copyright)`, "im"));
    }
  });

  it("ends with an error when one of its files is missing", async () => {
    const program = path.join(temporary, "prefix", installed, "program");
    const files = (await readdir(program)).filter((name) => name.startsWith("doctor-"));
    await Promise.all(files.map((name) => rm(path.join(program, name))));
    const home = await mkdtemp(path.join(temporary, "broken-"));
    const { code, stderr } = await startProgram([troupe, "doctor"], { home }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: this installation of troupe is not complete: .*doctor-.*\nfix: {3}install troupe again\n$/,
    );
  });
});

const diceTool = `
import { defineTool } from "@troupe/tools";
import { z } from "zod";

export default defineTool({
  name: "dice",
  description: "Adds up the dice that were thrown.",
  input: z.strictObject({ thrown: z.array(z.int()) }),
  risk: "low",
  effect: "read",
  run: async ({ thrown }) => ({ output: String(thrown.reduce((sum, each) => sum + each, 0)) }),
});
`;

const gambler = "---\nname: gambler\ndescription: Throws dice\ntools: dice, write\n---\nThrow the dice.\n";
