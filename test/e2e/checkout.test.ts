/**
 * Tests `pnpm troupe …` in a checkout without pnpm, which would need the network. Like pnpm, the test starts the script
 * in the checkout with the caller's folder in INIT_CWD.
 */
import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { RunResponse } from "@troupe/core";
import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { cleanEnv } from "../harness/clean-env.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("works in its caller's folder, and prints only the answer on stdout", async ({ onTestFinished }) => {
  const home = await tempFolder("checkout", { onTestFinished });
  const caller = path.join(home, "caller");
  await mkdir(caller);
  await writeScenario(caller, {
    main: [
      {
        steps: [{ calls: [{ tool: "write", args: { path: "made.txt", content: "by troupe" } }] }, { text: "done" }],
      },
    ],
  });
  const [, ...words] = manifest.scripts.troupe.split(" ");
  const args = ["run", "--json", "--scenario", "./scripted.yaml", "--workspace", ".", "write it"];
  const { stdout } = await promisify(execFile)(process.execPath, [...words, ...args], {
    cwd: root,
    env: { ...cleanEnv(home), INIT_CWD: caller },
  });
  expect(stdout.trim().split("\n")).toHaveLength(1);
  expect(RunResponse.parse(JSON.parse(stdout))).toMatchObject({ status: "completed", filesCreated: ["made.txt"] });
  expect(await readdir(caller)).toContain("made.txt");
});
