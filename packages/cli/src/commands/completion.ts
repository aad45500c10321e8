import { agentNameOf } from "@troupe/core/internal";
import type { Cli } from "../cli.ts";
import { cleanLine } from "../render/clean.ts";
import { truncate } from "../render/layout.ts";
import { withArchive } from "../session/archive.ts";

/** The offers of the shell for the next word: commands, flags, and names that only a running command knows. */
export interface Completion {
  /** Commands and flags. */
  words: string[];
  /** The kind of names that fit as well. Null for none. */
  names: CompletedNames | null;
}

export type CompletedNames = "agents" | "teams" | "sessions" | "runs" | "approvals" | "files";

const sessionsMax = 50;
const descriptionLength = 60;

/**
 * Prints the words that fit a command line, one in each line, with a description behind a tab. The shell shows nothing if
 * something fails: an error while a person types would only be in the way.
 */
export async function printCompletion(cli: Cli, { words, names }: Completion, typed: string): Promise<number> {
  const { out } = cli.terminal;
  for (const word of words) out.line(word);
  if (names === "files") out.line(":files");
  else if (names !== null) {
    const found = await namesOf(cli, names).catch(() => []);
    for (const { name, text } of found) {
      if (name.startsWith(typed)) out.line(`${name}\t${truncate(cleanLine(text), descriptionLength)}`);
    }
  }
  return 0;
}

interface Named {
  name: string;
  text: string;
}

async function namesOf(cli: Cli, names: Exclude<CompletedNames, "files">): Promise<Named[]> {
  const { composition, home, cwd, env } = cli;
  if (names === "agents" || names === "teams") {
    const { agents, teams = [] } = await composition.loadAgents({ home, workspace: cwd, env });
    return names === "teams"
      ? teams.map(({ name, description }) => ({ name, text: description }))
      : agents.map((agent) => ({ name: agentNameOf(agent), text: agent.description }));
  }
  return await withArchive(cli, async (archive) => {
    if (names === "approvals") {
      const rows = await archive.approvals({ waiting: true, limit: sessionsMax });
      return rows.map(({ id, agent, tool }) => ({ name: id, text: `${agent}: ${tool ?? "the whole run"}` }));
    }
    const rows = await archive.sessions(sessionsMax);
    const sessions = rows.map(({ session, task }) => ({ name: session, text: task }));
    if (names === "sessions") return sessions;
    const details = await Promise.all(rows.slice(0, 5).map(({ session }) => archive.session(session)));
    const runs = details.flatMap((detail) => detail?.runs ?? []);
    return [...sessions, ...runs.map(({ run, agent, task }) => ({ name: run, text: `${agent}: ${task}` }))];
  });
}
