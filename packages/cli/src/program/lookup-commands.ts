import { type Command, Option } from "commander";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

const sinceHelp = "how far back, such as 7d or 12h";

/** The commands that look through the whole record. */
export function addLookupCommands(program: Command, runCommand: RunCommand): void {
  addSearch(program, runCommand);
  addCosts(program, runCommand);
  program
    .command("stats")
    .description("show totals, success rates, and the slowest and most expensive branches of delegations")
    .option("--since <duration>", sinceHelp, "30d")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe stats --since 7d"))
    .action((flags: JsonFlag & { since: string }) =>
      runCommand(async (cli) => {
        const [{ showStats }, { parseSince }] = await Promise.all([
          import("../commands/stats.ts"),
          import("./flags.ts"),
        ]);
        return showStats(cli, { windowMs: parseSince(flags.since, "troupe stats --since 7d"), json: !!flags.json });
      }),
    );
}

function addSearch(program: Command, runCommand: RunCommand): void {
  program
    .command("search")
    .description(
      'find runs and tool calls that have all words in their request, answer, arguments or result; "quotes" make a phrase, and migrat* finds a beginning',
    )
    .argument("<words...>", "words to find")
    .option("--since <duration>", `${sinceHelp} (default: the whole record)`)
    .option("--agent <agent>", "only runs of this agent, or of team/agent")
    .option("--limit <number>", "number of hits", "20")
    .option("--json", jsonHelp)
    .addHelpText("after", example('troupe search "flaky test" --since 7d'))
    .action((words: string[], flags: JsonFlag & { since?: string; agent?: string; limit: string }) =>
      runCommand(async (cli) => {
        const [{ search }, { parseSince, parseWhole }] = await Promise.all([
          import("../commands/search.ts"),
          import("./flags.ts"),
        ]);
        const fix = 'troupe search "flaky test" --since 7d --limit 20';
        const windowMs = flags.since === undefined ? null : parseSince(flags.since, fix);
        const limit = parseWhole("--limit", flags.limit, { min: 1, max: 200, fix });
        return search(cli, words.join(" "), { windowMs, agent: flags.agent ?? null, limit, json: !!flags.json });
      }),
    );
}

function addCosts(program: Command, runCommand: RunCommand): void {
  program
    .command("costs")
    .description("show the costs of runs; an unknown price is shown as unknown, and an estimate is marked with ≈")
    .addOption(
      new Option("--by <what>", "one line per agent, role (agent without its team), model, team, or day")
        .choices(["agent", "role", "model", "team", "day"])
        .default("agent"),
    )
    .option("--since <duration>", sinceHelp, "30d")
    .addOption(new Option("--json", jsonHelp).conflicts("csv"))
    .option("--csv", "print comma-separated values with a header; an unknown cost is an empty field")
    .addHelpText("after", example("troupe costs --by day --since 7d"))
    .action((flags: JsonFlag & { by: "agent" | "role" | "model" | "team" | "day"; since: string; csv?: true }) =>
      runCommand(async (cli) => {
        const [{ showCosts }, { parseSince }] = await Promise.all([
          import("../commands/costs.ts"),
          import("./flags.ts"),
        ]);
        const windowMs = parseSince(flags.since, "troupe costs --by day --since 7d");
        return showCosts(cli, { by: flags.by, windowMs, json: !!flags.json, csv: !!flags.csv });
      }),
    );
}
