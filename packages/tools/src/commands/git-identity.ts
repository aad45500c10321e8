import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";

/** Author of commits. */
export interface GitIdentity {
  name: string;
  email: string;
}

/** Used if the user has not configured an identity. */
const defaultIdentity: GitIdentity = { name: "troupe agent", email: "agent@troupe.invalid" };

const run = promisify(execFile);
const timeoutMs = 5_000;

/**
 * Reads the user's git identity from the user's own configuration. A repository's configuration is not read, so that an
 * untrusted folder cannot choose the author.
 *
 * @param env gives PATH and the home; git receives no other variable

 */
export async function readGitIdentity(env: Readonly<Record<string, string | undefined>>): Promise<GitIdentity> {
  const [name, email] = await Promise.all([settingOf("user.name", env), settingOf("user.email", env)]);
  return name && email ? { name, email } : defaultIdentity;
}

async function settingOf(key: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  const { PATH, HOME, XDG_CONFIG_HOME } = env;
  try {
    // Runs outside of any repository: the user's configuration could include files of a matching repository.
    const { stdout } = await run("git", ["config", "--global", "--includes", "--get", key], {
      cwd: tmpdir(),
      env: {
        PATH,
        HOME,
        XDG_CONFIG_HOME,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CEILING_DIRECTORIES: tmpdir(),
        GIT_DIR: "/dev/null",
      },
      timeout: timeoutMs,
    });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}
