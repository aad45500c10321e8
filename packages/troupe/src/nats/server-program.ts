import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { TroupeError } from "@troupe/core";

const fix =
  "brew install nats-server, or take one from https://github.com/nats-io/nats-server/releases and export TROUPE_NATS_SERVER=FILE";

/** The program that `TROUPE_NATS_SERVER` names, else the `nats-server` on the PATH. */
export function findServerProgram(env: NodeJS.ProcessEnv): string {
  const named = env.TROUPE_NATS_SERVER;
  if (named) {
    if (isExecutable(named)) return named;
    throw new TroupeError("INVALID_CONFIG", `TROUPE_NATS_SERVER names ${named}, which is no program`, { fix });
  }
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const found = folders.map((folder) => join(folder, "nats-server")).find(isExecutable);
  if (found) return found;
  throw new TroupeError("INVALID_CONFIG", "there is no nats-server on the PATH to start", { fix });
}

/** Whether that version of the server knows all that stands in a configuration. */
export async function understands(program: string, configFile: string): Promise<boolean> {
  try {
    await promisify(execFile)(program, ["-t", "-c", configFile], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
