import { dirname, join } from "node:path";
import { findMirror, type Mirror, newerSuites } from "./lib/apt.ts";
import { fetchProgram, lastError } from "./lib/apt-fetch.ts";
import { findOnPath, run, say } from "./lib/command.ts";
import { type Need, report } from "./lib/need.ts";
import { cacheFolder } from "./lib/project.ts";

/**
 * Finds a nats-server that is new enough to test against, or fetches one into the cache folder, as any user. Quick when
 * it is there already. Run on its own it prints the path.
 */
export async function fetchNats(): Promise<Need> {
  const cached = join(cacheFolder(), "nats-server", "nats-server");
  const problems: string[] = [];
  for (const candidate of [process.env.TROUPE_TEST_NATS_SERVER ?? "", cached, ...findOnPath("nats-server")]) {
    const problem = candidate === "" ? null : await whyNot(candidate);
    if (candidate !== "" && problem === null) return { path: candidate };
    if (problem && candidate !== cached) problems.push(problem);
  }
  const mirror = findMirror();
  if (mirror && findOnPath("apt-get").length > 0) problems.push(...(await fromDebian(mirror, cached)));
  else if (findOnPath("brew").length > 0) problems.push(...(await fromBrew()));
  else problems.push("there is neither apt nor brew to fetch it with");

  for (const candidate of [cached, ...findOnPath("nats-server")]) {
    if ((await whyNot(candidate)) === null) return { path: candidate };
  }
  return { skipped: `${problems.join("; ")}. Put a nats-server of ${wanted} on the PATH` };
}

const wanted = "2.14 or newer (or 2.12.7, 2.11.16 and their patches)";

/** True when a version has the fixes without which JetStream can lose acknowledged messages. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 2) return major > 2;
  const patchMin = { 11: 16, 12: 7, 13: Number.POSITIVE_INFINITY }[minor];
  return patchMin === undefined ? minor >= 14 : patch >= patchMin;
}

/** Returns null when the file is a nats-server that runs here and is new enough, otherwise the reason. */
async function whyNot(file: string): Promise<string | null> {
  const { code, output } = await run([file, "--version"], { output: "capture" });
  const version = /nats-server: v(\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (code !== 0 || !version) return `${file} does not run as a nats-server`;
  return isNewEnough(version) ? null : `${file} is ${version}, too old`;
}

/**
 * Fetches from the distribution's newer suites until one is new enough. Resolves to the reasons of the failed attempts.
 */
async function fromDebian(mirror: Mirror, target: string): Promise<string[]> {
  const { suites, component } = newerSuites();
  const problems: string[] = [];
  for (const suite of suites) {
    say(`nats-server: fetching it from ${suite}, into ${dirname(target)}`);
    const wanted = { mirror, suite, component, name: "nats-server", target, whyNot };
    const problem = await fetchProgram(wanted);
    if (problem === null) return [];
    problems.push(problem);
  }
  return problems;
}

async function fromBrew(): Promise<string[]> {
  const { code, output } = await run(["brew", "install", "nats-server"], { output: "capture" });
  return code === 0 ? [] : [`brew install nats-server failed: ${lastError(output)}`];
}

if (import.meta.main) report("nats-server", await fetchNats());
