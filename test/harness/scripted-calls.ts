import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { until } from "./until.ts";

// Tool calls for scripted agents.

export const shell = (command: string) => ({ tool: "shell", args: { command, timeoutMs: 600_000 } });

export const delegate = (agent: string, task: string) => ({ tool: "delegate", args: { agent, task } });

/** A command that waits until the test lets it go on, and then says its name. */
export const gate = (name: string) =>
  shell(`touch ${name}.there; until [ -e ${name}.go ]; do sleep 0.02; done; echo ${name}`);

/** Resolves when a command waits at the gate. */
export const atGate = (folder: string, name: string) => until(() => existsSync(path.join(folder, `${name}.there`)));

export const openGate = (folder: string, name: string): Promise<void> => writeFile(path.join(folder, `${name}.go`), "");
