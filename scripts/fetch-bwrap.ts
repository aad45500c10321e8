import { dirname, join } from "node:path";
import { findMirror, ownSuite } from "./lib/apt.ts";
import { fetchProgram } from "./lib/apt-fetch.ts";
import { findOnPath, run, say } from "./lib/command.ts";
import { type Need, report } from "./lib/need.ts";
import { cacheFolder } from "./lib/project.ts";

/**
 * Finds a bubblewrap that works here, or fetches one into the cache folder, as any user. Quick when it is there already.
 * Run on its own it prints the path.
 */
export async function fetchBwrap(): Promise<Need> {
  const cached = join(cacheFolder(), "bubblewrap", "bwrap");
  for (const candidate of [process.env.TROUPE_TEST_BWRAP ?? "", ...findOnPath("bwrap"), cached]) {
    if (candidate !== "" && (await whyNot(candidate)) === null) return { path: candidate };
  }
  const problem = (await fetchFromDebian(cached)) ?? (await whyNot(cached));
  return problem === null
    ? { path: cached }
    : { skipped: `${problem}. Install bubblewrap, where it may make namespaces` };
}

/** Finds the `unshare` of util-linux, where this user may make namespaces with it. */
export async function findUnshare(): Promise<Need> {
  const [unshare] = findOnPath("unshare");
  if (unshare === undefined) return { skipped: "there is no unshare. Install util-linux, on a Linux" };
  const words = [unshare, "--user", "--map-current-user", "--keep-caps", "--mount", "--pid", "--fork", "true"];
  const { code, output } = await run(words, { output: "capture" });
  if (code === 0) return { path: unshare };
  return {
    skipped: `${output.trim().split("\n").at(-1)}. Let this user make namespaces (sysctl user.max_user_namespaces)`,
  };
}

/** Returns null when the file is a bubblewrap that can make a sandbox here, otherwise the reason. */
async function whyNot(file: string): Promise<string | null> {
  const { code, output } = await run([file, "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"], {
    output: "capture",
  });
  return code === 0 ? null : `${file} makes no sandbox here: ${output.trim().split("\n").at(-1)}`;
}

/** Fetches from this machine's own suite. Resolves to null, or to the reason of the failure. */
async function fetchFromDebian(target: string): Promise<string | null> {
  const mirror = findMirror();
  const own = ownSuite();
  if (!mirror || !own || findOnPath("apt-get").length === 0)
    return "bwrap is not here, and there is no apt to fetch it with";
  say(`bubblewrap: fetching it from ${own.suite}, into ${dirname(target)}`);
  return fetchProgram({ name: "bubblewrap", program: "bwrap", mirror, ...own, target, whyNot });
}

if (import.meta.main) report("bubblewrap", await fetchBwrap());
