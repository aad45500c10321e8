/** The examples run as their README says, and print what a reader is told to expect. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { it } from "vitest";
import { cleanEnv } from "../harness/clean-env.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const examples = [
  { name: "01-embed", prints: /^Together: hello\. HELLO!\n\(3 runs\)\n$/ },
  { name: "02-own-tool", prints: /^granted: 7\nnot granted: .*dice.*\nwrong: .*thrown/ },
  {
    name: "03-team",
    prints:
      /^researcher: Two .*\n- `open.*\n\nreviewer: Ready.*\n- a .*\n\ntester \(failed\): .*\n\n2 answered, 1 did not; 1 tool call\n$/,
  },
];

it.for(examples)("$name runs", async ({ name, prints }, { expect, onTestFinished }) => {
  const home = await tempFolder("example", { onTestFinished });
  const file = fileURLToPath(new URL(`../../examples/${name}/main.ts`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { ...cleanEnv(home), TMPDIR: home } });
  expect(stdout).toMatch(prints);
});
