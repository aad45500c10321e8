import { setTimeout as sleep } from "node:timers/promises";
import { findOnPath, run, say } from "./lib/command.ts";
import { cleanEnvironment } from "./lib/environment.ts";
import { fetchHeadlessShell } from "./lib/headless-shell.ts";
import { type Need, report } from "./lib/need.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const applications = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/**
 * Finds a Chromium or Chrome for the browser tests: `CHROME_PATH`, else the PATH, else it is installed where that
 * needs no question (root on a Debian, brew). On a Debian it is the headless shell of the same version, which is cheaper.
 * Run on its own it prints the path.
 */
export async function fetchChromium(): Promise<Need> {
  const chosen = process.env.TROUPE_TEST_CHROMIUM ?? process.env.CHROME_PATH ?? "";
  if (await isBrowser(chosen)) return { path: chosen };
  const problem = (await findChromium()) ? null : await install();
  const installed = await findChromium();
  if (installed) return { path: (await fetchHeadlessShell()) ?? installed };
  return { skipped: `${problem ?? "the installed browser does not run"}. Set CHROME_PATH to a Chromium or Chrome` };
}

async function findChromium(): Promise<string | null> {
  for (const file of [...names.flatMap((name) => findOnPath(name)), ...applications]) {
    if (await isBrowser(file)) return file;
  }
  return null;
}

async function isBrowser(file: string): Promise<boolean> {
  if (file === "") return false;
  const { code, output } = await run([file, "--version"], { output: "capture" });
  return code === 0 && /chrom/i.test(output);
}

/** Null when something was installed, else why nothing could be. */
async function install(): Promise<string | null> {
  if (findOnPath("apt-get").length > 0) {
    if (process.getuid?.() !== 0) return "only root may install it here: apt-get install chromium";
    say("chromium: installing the distribution's package");
    return (await apt("update")) ?? (await apt("install", "-y", "--no-install-recommends", "chromium"));
  }
  if (findOnPath("brew").length === 0) return "there is neither apt nor brew to install it with";
  say("chromium: installing it with brew");
  const { code } = await run(["brew", "install", "--cask", "chromium"], { output: "stderr" });
  return code === 0 ? null : "brew install --cask chromium failed";
}

/** Another apt may be at work (unattended upgrades): waits for its lock, of which only dpkg's own can apt wait for. */
async function apt(...words: string[]): Promise<string | null> {
  const env = { ...cleanEnvironment(), DEBIAN_FRONTEND: "noninteractive" };
  for (let attempt = 1; ; attempt += 1) {
    const command = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3", ...words];
    const { code, output } = await run(command, { env, output: "capture" });
    if (code === 0) return null;
    process.stderr.write(output);
    if (attempt === attemptsMax || !/could not get lock|unable to lock|is another process using it/i.test(output)) {
      return `apt-get ${words[0]} failed`;
    }
    await sleep(lockWaitMs);
  }
}

const attemptsMax = 12;
const lockWaitMs = 10_000;

if (import.meta.main) report("chromium", await fetchChromium());
