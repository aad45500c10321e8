import { type BigIntStats, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentProblem } from "@troupe/core/internal";
import { type AgentFolder, type AgentReader, readRegularFile, sha256, stampOf } from "./agent-folder.ts";
import type { ParsedAgent } from "./parse-agent.ts";
import { createProblemReport } from "./problem-report.ts";
import { type ParsedTeam, parseTeam, teamBytesMax } from "./team-file.ts";

/** Name of the file that makes a folder a team. */
export const teamFileName = "team.yaml";

/** Teams of one folder of teams. */
const teamsMax = 100;

/** A team and the agents of the files beside its `team.yaml`. */
export interface TeamContents {
  team: ParsedTeam;
  agents: readonly ParsedAgent[];
  /** Problems of the folder. */
  problems: readonly AgentProblem[];
  /** The project that the team belongs to. Absent: it is shipped, or the user's. */
  project?: string;
  /** The team would replace another one without the user's consent: it is not used. */
  isHeldBack?: true;
}

export interface TeamReader {
  /** Reads all teams of a folder: each of its folders with a `team.yaml`. Never throws. */
  readTeams(folder: AgentFolder): Promise<TeamContents[]>;
  /** Reads one team. Null if the folder has no `team.yaml`. */
  readTeam(folder: AgentFolder): Promise<TeamContents | null>;
}

/** Reads teams, and parses a `team.yaml` again only if it has changed. */
export function createTeamReader(agents: AgentReader): TeamReader {
  const cache = new Map<string, { stamp: string; team: ParsedTeam }>();

  const readTeamFile = async (folder: AgentFolder): Promise<ParsedTeam | null> => {
    const path = join(folder.path, teamFileName);
    const stats = statsOf(path);
    if (!stats) return null;
    const key = `${folder.origin}:${path}`;
    const cached = cache.get(key);
    if (cached?.stamp === stampOf(stats)) return cached.team;
    const read = await readRegularFile(path, teamBytesMax).catch(() => null);
    const team = read
      ? {
          ...parseTeam({ ...folder, path, text: new TextDecoder().decode(read.bytes) }),
          contentHash: sha256(read.bytes),
        }
      : unreadable(folder, path);
    cache.set(key, { stamp: read?.stamp ?? "", team });
    return team;
  };
  const readTeam = async (folder: AgentFolder): Promise<TeamContents | null> => {
    const team = await readTeamFile(folder);
    if (!team) return null;
    const project = folder.within === undefined ? {} : { project: folder.within };
    return { team, ...(await agents.readFolder(folder)), ...project };
  };

  return {
    readTeam,
    async readTeams(folder) {
      const entries = await readdir(folder.path, { withFileTypes: true }).catch(() => []);
      const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      const within = folder.within === undefined ? {} : { within: folder.within };
      const found = await Promise.all(
        names
          .sort()
          .slice(0, teamsMax)
          .map((name) => readTeam({ path: join(folder.path, name), origin: folder.origin, ...within })),
      );
      return found.filter((team) => team !== null);
    },
  };
}

function statsOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}

function unreadable({ origin, path: folder }: AgentFolder, path: string): ParsedTeam {
  const report = createProblemReport(path, "");
  report.error(0, {
    code: "unreadable-file",
    message: `${teamFileName} cannot be read`,
    fix: "make it a regular file that this user can read",
  });
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  return { path, origin, name, file: null, problems: report.problems, locationOf: () => ({ line: 1, column: 1 }) };
}
