import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { leaseMsDefault } from "@troupe/core/internal";
import { expect, test } from "vitest";
import { leaseMsInHelp } from "./shared-options.ts";

const script = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Packages that a command line of the built program loads modules of. */
async function importsOf(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  const trace = new URL("../testing/trace-imports.ts", import.meta.url).href;
  const command = ["--import", trace, script("../../dist/main.js"), ...args];
  // A command that fails has imported its parts too.
  const { stderr } = await promisify(execFile)(process.execPath, command, { env }).catch((error) => error);
  return /imports: (.*)/.exec(stderr)?.[1]?.split(" ") ?? [];
}

test.each(["--help", "--version"])("%s imports neither core nor troupe nor zod", async (flag) => {
  expect(await importsOf([flag])).toEqual(["cli", "commander", "picocolors"]);
});

test("a run starts without the libraries of the office, which load with its first call", async () => {
  const home = await mkdtemp(join(tmpdir(), "troupe-startup-"));
  const args = ["run", "--team", "none", "a task that no team of this name gets"];
  const imported = await importsOf(args, {
    HOME: home,
    TROUPE_HOME: join(home, "troupe"),
    PATH: process.env.PATH ?? "",
  });
  await rm(home, { recursive: true });
  // The host of the agents has started.
  expect(imported).toEqual(expect.arrayContaining(["connectors", "runtime", "troupe", "tools"]));
  const heavy = ["chrono-node", "rrule-temporal", "temporal-polyfill", "ical.js", "html-to-text", "postal-mime"];
  expect(imported.filter((name) => heavy.includes(name))).toEqual([]);
});

test("a command that asks a daemon loads nothing that only a host of agents needs", async () => {
  const home = await mkdtemp(join(tmpdir(), "troupe-startup-"));
  const imported = await importsOf(["ps"], {
    HOME: home,
    TROUPE_HOME: join(home, "troupe"),
    PATH: process.env.PATH ?? "",
  });
  await rm(home, { recursive: true });
  expect(imported).toEqual(expect.arrayContaining(["cli", "core", "runtime", "troupe", "zod"]));
  const ofHosts = ["connectors", "hono", "models", "nats", "pino", "roles", "tools", "xstate", "yaml"];
  expect(imported.filter((name) => ofHosts.includes(name))).toEqual([]);
});

test("the help of run, up and worker names the default lease", () => {
  expect(leaseMsInHelp).toBe(leaseMsDefault);
});
