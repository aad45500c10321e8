import { cp, lstat, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { TroupeError } from "@troupe/core";
import { errorCodeOf, TeamName } from "@troupe/core/internal";
import { findTeam } from "@troupe/runtime/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { acceptOwnFiles } from "../session/accept-own-files.ts";

export interface NewTeamFlags {
  /** The team whose files are copied. */
  from?: string | undefined;
  json: boolean;
}

/** `troupe teams new`: writes a team into `.troupe/teams` of this folder. Never overwrites a file. */
export async function newTeam(cli: Cli, name: string, { from, json }: NewTeamFlags): Promise<number> {
  if (!TeamName.safeParse(name).success) {
    throw new TroupeError("USAGE", `${JSON.stringify(cleanLine(name))} is not a name for a team`, {
      fix: "use at most 40 small letters, digits and -: troupe teams new code-review",
    });
  }
  const source = from === undefined ? null : dirname(await teamFileOf(cli, from));
  const folder = join(cli.cwd, ".troupe", "teams", name);
  await createFolder(folder);
  try {
    if (source === null) await writeTemplate(folder, name);
    else await copyTeam(source, folder, name);
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw unwritable(folder, cause);
  }
  await acceptOwnFiles(cli, folder);
  const { out, err } = cli.terminal;
  if (json) out.line(jsonLine({ team: name, path: folder }));
  else {
    out.line(folder);
    const fromHere = relative(cli.cwd, folder);
    err.line(err.colours.dim(`edit its files, then: troupe teams validate ${fromHere}`));
    err.line(err.colours.dim(`run it: troupe run --team ${name} "what to do"`));
  }
  return 0;
}

async function teamFileOf({ composition, home, cwd, env }: Cli, name: string): Promise<string> {
  return findTeam(await composition.loadAgents({ home, workspace: cwd, env }), cleanLine(name)).path;
}

async function createFolder(folder: string): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder);
  } catch (cause) {
    if (errorCodeOf(cause) !== "EEXIST") throw unwritable(folder, cause);
    throw new TroupeError("CONFLICT", `${folder} exists already and was not changed`, {
      fix: `troupe teams show ${basename(folder)}`,
      cause,
    });
  }
}

function unwritable(folder: string, cause: unknown): TroupeError {
  return new TroupeError("USAGE", `${folder} cannot be written: ${errorCodeOf(cause) ?? String(cause)}`, {
    cause,
    fix: "go to a folder that you can write",
  });
}

/** Copies agent files and `team.yaml`. Links are left out: they could lead anywhere. */
async function copyTeam(source: string, folder: string, name: string): Promise<void> {
  const isPart = async (path: string): Promise<boolean> => {
    const stats = await lstat(path);
    return stats.isDirectory() || (stats.isFile() && (path.endsWith(".md") || basename(path) === "team.yaml"));
  };
  await cp(source, folder, { recursive: true, filter: isPart });
  const file = join(folder, "team.yaml");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(/^name[ \t]*:[^\r\n]*/m, `name: ${name}`));
}

async function writeTemplate(folder: string, name: string): Promise<void> {
  const files = { "team.yaml": teamTemplate(name), "lead.md": leadTemplate, "writer.md": writerTemplate };
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text, { flag: "wx" });
}

const teamTemplate = (name: string): string => `# The team ${name}: this file, and the agent files beside it.
# Check it:  troupe teams validate .troupe/teams/${name}
# Run it:    troupe run --team ${name} "what to do"

# When to choose this team. It is shown in lists.
description: Writes a short text and checks it

# The agent that gets the request.
entry: lead

# Agents of other teams, or without a team, that are members too.
# agents: [researcher]

# For agents whose files say nothing about it.
# defaults:
#   model: sonnet
#   maxDepth: 2
#   limits: {maxIterations: 20}
#   budget: {tokens: 200000}

# Requests with one of these words must go to this agent.
# triggers:
#   - {words: [summary, press release], agent: writer}
`;

const leadTemplate = `---
name: lead
description: Gets the request, and gives the writing to the writer
# The agents below it get only tools that it has too.
tools: [read, write]
# The agents that it may delegate to.
subagents:
  allow: [writer]
---
You lead a small team. Read what the request needs, then delegate the writing to the writer with everything that it must
know. Check its text against the request before you answer. Ask again if something is missing.
`;

const writerTemplate = `---
name: writer
description: Writes a text from a clear task
tools: [read, write]
---
You write short, plain texts. Use only what the task and the files say. Answer with the text, and name the file if you
wrote one.
`;
