import { readFile, realpath } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import path from "node:path";
import { TroupeError } from "@troupe/core";
import { loginHomes } from "@troupe/core/internal";

/**
 * Throws `USAGE` for a workspace that is a home, a folder above one, or the whole file system: its agents would work
 * among the keys, mails and start-up files of a person.
 */
export async function refuseHome(workspace: string): Promise<void> {
  const real = await realpath(workspace);
  const [own, ...homes] = await Promise.all([homedir(), ...(await homesOfPeople())].map(realPathOf));
  // HOME alone can name a folder that was made for one program, such as a folder of the project.
  const home = real === own ? own : homes.find((one) => isWithin(real, one));
  if (real !== "/" && home === undefined) return;
  const what = real === "/" ? "the whole file system" : real === home ? "a home" : `a folder above the home ${home}`;
  throw new TroupeError(
    "USAGE",
    `the workspace "${workspace}" is ${what}: agents would work among its personal files`,
    {
      fix: "name a project's folder: --workspace DIR; or accept the risk: --allow-home",
    },
  );
}

async function homesOfPeople(): Promise<string[]> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  return [userHome(), ...loginHomes(passwd)].filter((home) => path.isAbsolute(home) && home !== path.parse(home).root);
}

function realPathOf(home: string): Promise<string> {
  return realpath(home).catch(() => home);
}

function userHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

/** Whether a path is a folder, or in it. */
function isWithin(folder: string, inner: string): boolean {
  const way = path.relative(folder, inner);
  return way === "" || (way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}
