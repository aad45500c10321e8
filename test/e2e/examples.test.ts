/** Runs the examples as their README describes, and compares their output with it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { it } from "vitest";
import { cleanEnv } from "../harness/clean-env.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const examples = [
  { name: "01-embed", prints: /^left has MIT, right has Apache-2\.0 \(3 runs\)\n$/ },
  { name: "02-own-tool", prints: /^granted: 7\nnot granted: .*dice.*\nwrong: .*thrown/ },
  {
    name: "03-team",
    prints:
      /^researcher completed Two changes, one of them breaking\.\nreviewer completed Ready.*\ntester failed .*the model is not there.*\n$/,
  },
];

it.for(examples)("$name runs", async ({ name, prints }, { expect, onTestFinished }) => {
  const home = await tempFolder("example", { onTestFinished });
  const file = fileURLToPath(new URL(`../../examples/${name}/main.ts`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { ...cleanEnv(home), TMPDIR: home } });
  expect(stdout).toMatch(prints);
});
