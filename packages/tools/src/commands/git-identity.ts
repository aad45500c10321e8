import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";

/** Who commits. */
export interface GitIdentity {
  name: string;
  email: string;
}

/** Where nobody has told git who they are. */
const defaultIdentity: GitIdentity = { name: "troupe agent", email: "agent@troupe.invalid" };

const run = promisify(execFile);
const timeoutMs = 5_000;

/**
 * Who the user of this machine is to git, as their own configuration says: a repository's is not asked, so that a folder
 * that came from elsewhere cannot commit in another name.
 *
 * @param env where their home is and where git is found; nothing else of it is handed on
 */
export async function readGitIdentity(env: Readonly<Record<string, string | undefined>>): Promise<GitIdentity> {
  const [name, email] = await Promise.all([settingOf("user.name", env), settingOf("user.email", env)]);
  return name && email ? { name, email } : defaultIdentity;
}

async function settingOf(key: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  const { PATH, HOME, XDG_CONFIG_HOME } = env;
  try {
    // From a folder without a repository, since one could include itself by its path.
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
