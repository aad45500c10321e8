import type { Command } from "commander";
import type { BudgetFlags } from "./flags.ts";
import {
  addModelAndBudgetOptions,
  addNatsOptions,
  example,
  type JsonFlag,
  jsonHelp,
  type NatsOptions,
  type RunCommand,
} from "./shared-options.ts";

interface SharedOptions extends JsonFlag, BudgetFlags, NatsOptions {
  workspace?: string;
  scenario?: string;
  model?: string;
  input: boolean;
}

/** The commands that make and execute plans. */
export function addPlanCommands(program: Command, runCommand: RunCommand): void {
  const plan = addSharedOptions(program.command("plan"))
    .description("ask the planner for a plan, print it, and write it as a file that you can edit and run")
    .argument("<goal>", "what to reach, as one argument")
    .option("--out <file>", "the file to write", "plan.yaml")
    .option("--team <name>", "team whose planner and agents are used (default: the agents without a team)")
    .addHelpText("after", example('troupe plan "sign the tokens with RS256" --out tokens.yaml'))
    .action((goal: string, flags: SharedOptions & { out: string; team?: string }) =>
      runCommand(async (cli) => {
        const { makePlan } = await import("../commands/plan.ts");
        return makePlan(cli, goal, { ...(await sharedFlags(flags)), out: flags.out, team: flags.team });
      }),
    );
  addSharedOptions(plan.command("run"))
    .description("check a plan, execute its steps, and print their results. A second time continues where it ended")
    .argument("<file>", "a plan as YAML")
    .option("--step <id>", "execute this step only; the steps before it must be completed")
    .option("--yes", "execute it without a question")
    .addHelpText("after", example("troupe plan run plan.yaml"))
    .action((file: string, _flags: object, command: Command) =>
      runCommand(async (cli) => {
        // Flags that both commands have belong to the first of them, wherever they are written.
        const flags = command.optsWithGlobals<SharedOptions & { step?: string; yes?: true }>();
        const { runPlan } = await import("../commands/plan.ts");
        return runPlan(cli, file, { ...(await sharedFlags(flags)), step: flags.step, yes: !!flags.yes });
      }),
    );
}

function addSharedOptions(command: Command): Command {
  return addModelAndBudgetOptions(
    addNatsOptions(command, "NATS server URL, used when no daemon is running").option(
      "--workspace <folder>",
      "folder that the agents work in (default: the current folder)",
    ),
  )
    .option("--no-input", "never ask; exit with 8 if the session waits only for a person")
    .option("--json", jsonHelp);
}

async function sharedFlags(flags: SharedOptions) {
  const options = await import("./flags.ts");
  return {
    workspace: flags.workspace,
    scenario: flags.scenario,
    model: flags.model,
    budget: options.parseBudget(flags),
    noInput: !flags.input,
    nats: options.parseNats(flags),
    json: !!flags.json,
  };
}
