import { spawn } from "node:child_process";

/** True if a browser can be opened: stdout is a terminal, and this is neither CI nor SSH. */
export function mayOpenPage(options: { env: NodeJS.ProcessEnv; isTerminal: boolean }): boolean {
  const { env, isTerminal } = options;
  return isTerminal && !["CI", "SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"].some((name) => env[name]);
}

/** Opens a page in the user's browser. Resolves with false if no program could be started. */
export async function openPage(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const command = openerOf(process.platform, env);
  if (!command) return false;
  const [program, ...before] = command;
  return new Promise((resolve) => {
    const child = spawn(program, [...before, url], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

/** Null if there is no display. */
export function openerOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): [string, ...string[]] | null {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open"] : null;
}
