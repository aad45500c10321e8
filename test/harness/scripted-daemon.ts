import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type InProcessDaemon, startDaemon, startDaemonInProcess, type TestDaemon } from "./daemon.ts";
import { type Agents, writeScenario } from "./scenario-file.ts";
import { tempFolder } from "./temp-folder.ts";

export interface ScriptedDaemon extends InProcessDaemon {
  home: string;
}

export interface KillableScriptedDaemon extends TestDaemon {
  home: string;
  /** The same home on the same port in the test's process, after a kill. */
  startAgain(): Promise<InProcessDaemon>;
}

export interface ScriptedDaemonOptions {
  test: Parameters<typeof startDaemon>[0]["test"];
  /** Scripted replies of the agents. */
  agents: Agents;
  /** More files of the home, by their path in it: a policy, definitions of agents. */
  files?: Readonly<Record<string, string>>;
  /** Further variables of the daemon. */
  env?: Readonly<Record<string, string>>;
}

/** Calls of medium risk, such as `shell`, are asked about. */
export const askingPolicy = { "policy.yaml": "risk: {medium: ask}\n" };

/** A daemon with a home of its own, whose agents follow a script of the test's. It runs in the test's process. */
export async function startScriptedDaemon(options: ScriptedDaemonOptions): Promise<ScriptedDaemon> {
  const { test } = options;
  const { home, env } = await createHome(options);
  return { ...(await startDaemonInProcess({ home, test, env })), home };
}

/** The same in a process of its own, for a test that kills it. */
export async function startKillableScriptedDaemon(options: ScriptedDaemonOptions): Promise<KillableScriptedDaemon> {
  const { test } = options;
  const { home, env } = await createHome(options);
  const daemon = await startDaemon({ home, test, env });
  const { port } = new URL(daemon.url);
  return { ...daemon, home, startAgain: () => startDaemonInProcess({ home, test, env, flags: ["--port", port] }) };
}

async function createHome({ test, agents, files = {}, env = {} }: ScriptedDaemonOptions) {
  const home = await tempFolder("scripted", test);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(home, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const model = `scripted/${await writeScenario(home, agents)}`;
  const config = "config.yaml" in files ? { TROUPE_CONFIG: path.join(home, "config.yaml") } : {};
  return { home, env: { TROUPE_MODEL: model, ...config, ...env } };
}
