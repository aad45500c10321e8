import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** The user's own file: `TROUPE_CONFIG`, else `troupe/config.yaml` in the XDG configuration folder. */
export function userConfigFile({ env, cwd }: { env: NodeJS.ProcessEnv; cwd: string }): string {
  if (env.TROUPE_CONFIG) return resolve(cwd, env.TROUPE_CONFIG);
  const folder = env.XDG_CONFIG_HOME;
  // The XDG specification has relative paths ignored.
  if (folder && isAbsolute(folder)) return join(folder, "troupe", "config.yaml");
  return join(env.HOME || homedir(), ".config", "troupe", "config.yaml");
}

/** What a folder says for those who work in it. */
export const projectConfigPath = ".troupe/config.yaml";
