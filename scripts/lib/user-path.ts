import { homedir } from "node:os";
import { basename, delimiter, isAbsolute, join, resolve } from "node:path";

/** The user's folder for programs: `XDG_BIN_HOME`, else `~/.local/bin`. */
export function userBinFolder(env: NodeJS.ProcessEnv = process.env): string {
  const xdg = env.XDG_BIN_HOME;
  // Like the variables of the XDG specification, a relative value is ignored.
  return xdg && isAbsolute(xdg) ? xdg : join(homedir(), ".local", "bin");
}

export function isOnPath(folder: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(Boolean);
  return folders.some((each) => resolve(each) === resolve(folder));
}

/** The command that adds a folder to the PATH of the user's shell. */
export function addToPathCommand(
  folder: string,
  { shell, platform, home = homedir() }: { shell: string | undefined; platform: NodeJS.Platform; home?: string },
): string {
  if (platform === "win32") {
    const entry = `[Environment]::GetEnvironmentVariable('Path','User') + ';${folder.replaceAll("'", "''")}'`;
    return `powershell -Command "[Environment]::SetEnvironmentVariable('Path', ${entry}, 'User')"`;
  }
  const shown = folder.startsWith(`${home}/`) ? `$HOME${folder.slice(home.length)}` : folder;
  const name = basename(shell ?? "");
  if (name === "fish") return `fish_add_path "${shown}"`;
  // On macOS a terminal starts bash as a login shell, which does not read .bashrc.
  const bashFile = platform === "darwin" ? ".bash_profile" : ".bashrc";
  const file = { bash: bashFile, zsh: ".zshrc" }[name] ?? ".profile";
  return `echo 'export PATH="${shown}:$PATH"' >> ~/${file}`;
}
