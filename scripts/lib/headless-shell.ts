import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { lastError } from "./apt-fetch.ts";
import { findOnPath, run, say } from "./command.ts";
import { cacheFolder } from "./project.ts";

/** The folder of Debian's Chromium, whose data files the shell needs too. */
const chromiumFolder = "/usr/lib/chromium";
const name = "chromium-headless-shell";

/**
 * Finds the headless shell of Debian's Chromium, or fetches it into the cache folder, as any user. It has the same engine
 * without the windows of a whole browser, each of which costs more than our page in it. Resolves to null where only the
 * whole browser is available.
 */
export async function fetchHeadlessShell(): Promise<string | null> {
  const version = await installedVersion();
  if (version === null) return null;
  const folder = join(cacheFolder(), name, version);
  for (const file of [...findOnPath(name), join(folder, name)]) if (await isUsable(file)) return file;
  say(`${name}: fetching ${version}, into ${folder}`);
  const problem = await fetchInto(folder, version);
  if (problem !== null) say(`${name}: ${problem}. The tests use the whole browser, which takes longer`);
  return problem === null ? join(folder, name) : null;
}

/** The version of the distribution's package. A shell of another version cannot read the data files. */
async function installedVersion(): Promise<string | null> {
  if (findOnPath("dpkg-query").length === 0 || !existsSync(chromiumFolder)) return null;
  const { code, output } = await run(["dpkg-query", "--show", "chromium"], { output: "capture" });
  const [, version = ""] = output.trim().split("\t");
  return code === 0 && version !== "" ? version : null;
}

async function isUsable(file: string): Promise<boolean> {
  return existsSync(file) && (await run([file, "--version"], { output: "capture" })).code === 0;
}

/** Resolves to null, or to the reason of the failure. A concurrent reader sees a whole folder or none. */
async function fetchInto(target: string, version: string): Promise<string | null> {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), "fetch-"));
  try {
    for (const command of [
      ["apt-get", "-q", "download", `${name}=${version}`],
      ["sh", "-c", "dpkg-deb -x *.deb unpacked"],
    ]) {
      const { code, output } = await run(command, { cwd: folder, output: "capture" });
      if (code !== 0) return `${command.join(" ")} failed: ${lastError(output)}`;
    }
    const unpacked = join(folder, "unpacked", chromiumFolder);
    for (const file of readdirSync(chromiumFolder)) {
      if (!existsSync(join(unpacked, file))) symlinkSync(join(chromiumFolder, file), join(unpacked, file));
    }
    if (!(await isUsable(join(unpacked, name)))) return "the fetched program does not run";
    rmSync(target, { recursive: true, force: true });
    renameSync(unpacked, target);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
