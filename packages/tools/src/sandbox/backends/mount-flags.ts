import { readFile } from "node:fs/promises";
import { isWithin } from "../../workspace/workspace-path.ts";

/** Restrictions that a namespace of its own may not take from a mount. */
const restrictions: readonly string[] = ["noexec", "nosuid", "nodev"];

/** What tells of a path which restrictions the mount has that it is in. */
export async function readRestrictions(): Promise<(path: string) => readonly string[]> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8").catch(() => "")).split("\n");
  const mounts = lines
    .map((line) => line.split(" "))
    .map(([, , , , at = "", flags = ""]) => ({ at: unescapeField(at), flags: flags.split(",") }))
    .filter(({ at }) => at !== "");
  return (path) => {
    const holding = mounts.filter(({ at }) => isWithin(at, path));
    const nearest = holding.reduce((best, mount) => (mount.at.length >= best.at.length ? mount : best), nowhere);
    return restrictions.filter((flag) => nearest.flags.includes(flag));
  };
}

const nowhere: { at: string; flags: string[] } = { at: "", flags: [] };

function unescapeField(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
