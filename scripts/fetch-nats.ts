import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findMirror, type Mirror, newerSuites } from "./lib/apt.ts";
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

/** Whether a version has the fixes without which JetStream can lose what it acknowledged. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 2) return major > 2;
  const patchMin = { 11: 16, 12: 7, 13: Number.POSITIVE_INFINITY }[minor];
  return patchMin === undefined ? minor >= 14 : patch >= patchMin;
}

/** Null when the file is a nats-server that runs here and is new enough, else what is wrong with it. */
async function whyNot(file: string): Promise<string | null> {
  const { code, output } = await run([file, "--version"], { output: "capture" });
  const version = /nats-server: v(\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (code !== 0 || !version) return `${file} does not run as a nats-server`;
  return isNewEnough(version) ? null : `${file} is ${version}, too old`;
}

/** Fetches from the distribution's newer suites, until one is new enough. Resolves to what went wrong on the way. */
async function fromDebian(mirror: Mirror, target: string): Promise<string[]> {
  const { suites, component } = newerSuites();
  const problems: string[] = [];
  for (const suite of suites) {
    say(`nats-server: fetching it from ${suite}, into ${dirname(target)}`);
    const problem = await fromSuite(mirror, suite, component, target);
    if (problem === null) return [];
    problems.push(problem);
  }
  return problems;
}

/**
 * One suite, with apt's lists, caches and sources in a folder of our own: the machine's apt state is neither changed nor
 * are root's rights needed. Its keys are the machine's, so that what comes is checked as any package is.
 */
async function fromSuite(mirror: Mirror, suite: string, component: string, target: string): Promise<string | null> {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), "fetch-"));
  try {
    const apt = privateApt(folder, mirror, suite, component);
    for (const words of [["update"], ["download", "nats-server"]]) {
      const { code, output } = await run([...apt, ...words], { cwd: folder, output: "capture" });
      if (code !== 0) return `apt-get ${words.join(" ")} (${suite}) failed: ${lastError(output)}`;
    }
    return await unpack(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function privateApt(folder: string, mirror: Mirror, suite: string, component: string): string[] {
  for (const name of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(folder, name), { recursive: true });
  const signedBy = mirror.signedBy ? `[signed-by=${mirror.signedBy}] ` : "";
  writeFileSync(join(folder, "sources.list"), `deb ${signedBy}${mirror.uri} ${suite} ${component}\n`);
  const options = [
    `Dir::Etc::sourcelist=${join(folder, "sources.list")}`,
    "Dir::Etc::sourceparts=-",
    "Dir::Etc::preferences=-",
    "Dir::Etc::preferencesparts=-",
    `Dir::State::lists=${join(folder, "lists")}`,
    `Dir::Cache=${join(folder, "cache")}`,
    `Dir::Cache::archives=${join(folder, "cache", "archives")}`,
    "Acquire::Languages=none",
    "Acquire::Retries=3",
    // Else root's apt drops to a user who cannot write into a folder of root's home.
    ...(process.getuid?.() === 0 ? ["APT::Sandbox::User=root"] : []),
  ];
  return ["apt-get", "-q", ...options.flatMap((option) => ["-o", option])];
}

async function unpack(folder: string, target: string): Promise<string | null> {
  const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
  if (!archive) return "apt-get download left no package";
  const { code, output } = await run(["dpkg-deb", "-x", archive, "unpacked"], { cwd: folder, output: "capture" });
  if (code !== 0) return `dpkg-deb failed: ${lastError(output)}`;
  const found = readdirSync(join(folder, "unpacked"), { recursive: true, encoding: "utf8" })
    .filter((path) => /^usr\/s?bin\//.test(path) && basename(path) === "nats-server")
    .map((path) => join(folder, "unpacked", path))[0];
  if (!found) return `${archive} holds no nats-server`;
  const problem = await whyNot(found);
  if (problem) return problem.replace(found, archive);
  // Copied beside its place first, then renamed: whoever looks there meanwhile sees a whole file or none.
  copyFileSync(found, join(folder, "nats-server"));
  renameSync(join(folder, "nats-server"), target);
  return null;
}

async function fromBrew(): Promise<string[]> {
  const { code, output } = await run(["brew", "install", "nats-server"], { output: "capture" });
  return code === 0 ? [] : [`brew install nats-server failed: ${lastError(output)}`];
}

function lastError(output: string): string {
  const lines = output.trim().split("\n");
  return lines.findLast((line) => /^(E|W|Error|dpkg-deb: error):? /.test(line)) ?? lines.at(-1) ?? "";
}

if (import.meta.main) report("nats-server", await fetchNats());
