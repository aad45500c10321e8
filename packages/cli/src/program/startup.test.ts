import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { leaseMsDefault } from "@troupe/core/internal";
import { expect, test } from "vitest";
import { leaseMsInHelp } from "./shared-options.ts";

const script = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Packages that a command line imports. */
async function importsOf(...args: string[]): Promise<string[]> {
  const trace = new URL("../testing/trace-imports.ts", import.meta.url).href;
  const { stderr } = await promisify(execFile)(process.execPath, ["--import", trace, script("../main.ts"), ...args]);
  return /imports: (.*)/.exec(stderr)?.[1]?.split(" ") ?? [];
}

test.each(["--help", "--version"])("%s imports neither core nor troupe nor zod", async (flag) => {
  expect(await importsOf(flag)).toEqual(["cli", "commander", "picocolors"]);
});

test("the help of run, up and worker names the default lease", () => {
  expect(leaseMsInHelp).toBe(leaseMsDefault);
});
