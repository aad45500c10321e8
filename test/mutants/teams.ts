import type { Mutant } from "./mutant.ts";

const teamsTest = "test/e2e/teams.test.ts";

/** Breaks what people can do with teams. */
export const mutants: readonly Mutant[] = [
  {
    name: "the default team also gets requests that name an agent",
    rows: ["S3.14d"],
    file: "packages/runtime/src/service/accept-session.ts",
    find: "agent === undefined && team === undefined ? await defaultTeam?.(workspace)",
    replace: "team === undefined ? await defaultTeam?.(workspace)",
    tests: [`${teamsTest} > troupe teams > use stores the default, and keeps every comment of the configuration`],
  },
  {
    name: "teams new overwrites a team",
    rows: ["S3.14d", "S2.17j"],
    file: "packages/cli/src/commands/new-team.ts",
    find: "    await mkdir(folder);",
    replace: "    await mkdir(folder, { recursive: true });",
    tests: [`${teamsTest} > troupe teams > new writes a team that is valid and runs, and never overwrites it`],
  },
];
