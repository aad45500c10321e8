import { spawn } from "node:child_process";
import { once } from "node:events";
import { cleanEnv } from "./clean-env.ts";
import { cliPath } from "./daemon.ts";

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  home: string;
  env?: Record<string, string>;
  cwd?: string;
  input?: string;
}

/** Runs one `troupe …` command in a process of its own, to its end. */
export async function troupe(args: string[], options: CliOptions): Promise<CliResult> {
  const child = spawn(process.execPath, [cliPath, ...args], {
    cwd: options.cwd ?? options.home,
    env: { ...cleanEnv(options.home), ...options.env },
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdin?.end(options.input);
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}
