import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AgentDefinition, type Json, TroupeError } from "@troupe/core";
import { errorCodeOf, unknownAgent } from "@troupe/core/internal";
import {
  type AgentFileChanges,
  editAgentFile,
  fixForKey,
  newAgentFile,
  parseAgent,
  pathOfKey,
  readKeyValue,
} from "@troupe/roles";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { acceptOwnFiles } from "../session/accept-own-files.ts";

export interface NewAgentFlags {
  from: string | null;
  description: string | null;
  json: boolean;
}

/** `troupe agents new`: writes an agent file into `.troupe/agents` of this folder. Never overwrites a file. */
export async function newAgent(cli: Cli, name: string, flags: NewAgentFlags): Promise<number> {
  const copied = flags.from === null ? null : await findAgent(cli, flags.from);
  const text = newAgentFile({
    name,
    ...(flags.description === null ? {} : { description: flags.description }),
    ...(copied === null ? {} : { from: await readFile(fileOf(copied), "utf8") }),
  });
  const path = join(cli.cwd, ".troupe", "agents", `${name}.md`);
  checkUsable(text, path);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { flag: "wx" }).catch((cause: unknown) => {
    if (errorCodeOf(cause) !== "EEXIST") throw cause;
    throw new TroupeError("USAGE", `${path} exists already`, {
      cause,
      fix: `choose another name, or change the file: troupe agents set ${name} description "…"`,
    });
  });
  report(cli, { agent: name, path }, `wrote ${path}`, flags.json);
  await acceptOwnFiles(cli, path);
  return 0;
}

/** `troupe agents set`: changes one key of an agent file and keeps the rest of it, with its comments. */
export async function setAgentKey(
  cli: Cli,
  { id, key, value }: { id: string; key: string; value: string },
  flags: { json: boolean },
): Promise<number> {
  const path = pathOfKey(key);
  if (path === null) {
    throw new TroupeError("USAGE", `${JSON.stringify(cleanLine(key))} is not a key of agent files`, {
      fix: fixForKey(key),
    });
  }
  return await changeAgent(cli, id, { [path]: readKeyValue(path, value) }, flags);
}

/** `troupe agents enable` and `troupe agents disable`. */
export async function switchAgent(cli: Cli, id: string, enabled: boolean, flags: { json: boolean }): Promise<number> {
  return await changeAgent(cli, id, { "troupe.disabled": enabled ? undefined : true }, flags);
}

async function changeAgent(cli: Cli, id: string, changes: AgentFileChanges, flags: { json: boolean }): Promise<number> {
  const agent = await findAgent(cli, id);
  const path = fileOf(agent);
  if (agent.source.origin === "builtin") {
    throw new TroupeError("USAGE", `${agent.id} is an agent that troupe ships, and its file is not yours to change`, {
      fix: `copy it first, which replaces it in this folder: troupe agents new ${agent.id} --from ${agent.id}`,
    });
  }
  const before = await readFile(path, "utf8");
  const after = editAgentFile(before, changes);
  checkUsable(after, path);
  if (after !== before) await replaceFile(path, after);
  report(
    cli,
    { agent: agent.id, path, changed: after !== before },
    after === before ? `${path} has it already` : `changed ${path}`,
    flags.json,
  );
  await acceptOwnFiles(cli, path);
  return 0;
}

async function findAgent({ composition, home, cwd, env }: Cli, id: string): Promise<AgentDefinition> {
  const registry = await composition.loadAgents({ home, workspace: cwd, env });
  const found = registry.find(id);
  if (found) return found;
  throw unknownAgent(
    cleanLine(id),
    registry.agents.map((agent) => agent.id),
  );
}

function fileOf({ id, source }: AgentDefinition): string {
  if (source.origin !== "remote" && source.path.endsWith(".md")) return source.path;
  throw new TroupeError("USAGE", `${id} has no file on this machine`, { fix: "troupe agents ls" });
}

/** Throws `INVALID_AGENT` with the first error that the file would have. */
function checkUsable(text: string, path: string): void {
  const { problems } = parseAgent({ path, origin: "project", text });
  const error = problems.find(({ severity }) => severity === "error");
  if (!error) return;
  throw new TroupeError("INVALID_AGENT", `nothing was changed, because the file would be invalid: ${error.message}`, {
    ...(error.fix === null ? {} : { fix: error.fix }),
  });
}

/** A reader sees the old file or the new one, and never a part. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const { mode } = await stat(path);
    await writeFile(temporary, text, { flag: "wx", mode });
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

function report({ terminal }: Cli, result: Readonly<Record<string, Json>>, line: string, json: boolean): void {
  terminal.out.line(json ? jsonLine(result) : cleanLine(line));
}
