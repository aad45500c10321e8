import { Argument, type Command } from "commander";
import type { Shell } from "./completion.ts";
import { example, type JsonFlag, jsonHelp, type RunCommand } from "./shared-options.ts";

/** The commands that help a person at a shell: `completion` and `demo`. */
export function addShellCommands(program: Command, runCommand: RunCommand, write: (text: string) => void): void {
  addCompletion(program, runCommand, write);
  addDemo(program, runCommand);
}

const completionHelp = `
Add it to your shell:
  bash   echo 'eval "$(troupe completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(troupe completion zsh)"' >> ~/.zshrc
  fish   troupe completion fish > ~/.config/fish/completions/troupe.fish

Example:
  $ troupe completion bash`;

function addCompletion(program: Command, runCommand: RunCommand, write: (text: string) => void): void {
  program
    .command("completion")
    .description("print a script that completes commands, agents, sessions and runs in your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", completionHelp)
    .action(async (shell: Shell) => write((await import("./completion.ts")).completionScript(shell)));
  program
    .command("__complete", { hidden: true })
    .argument("[words...]", "the words of a command line; the last one is being typed")
    .action(async (words: string[]) => {
      const { complete } = await import("./completion.ts");
      const found = complete(program, words);
      await runCommand(async (cli) =>
        (await import("../commands/completion.ts")).printCompletion(cli, found, words.at(-1) ?? ""),
      );
    });
}

function addDemo(program: Command, runCommand: RunCommand): void {
  program
    .command("demo")
    .description("watch a scripted team at work, without a key and without cost")
    .option("--json", jsonHelp)
    .addHelpText("after", example("troupe demo"))
    .action((flags: JsonFlag) =>
      runCommand(async (cli) => {
        const { run } = await import("../commands/run.ts");
        const task = "Build a small web page, and report on it";
        const nothing = { continues: null, budget: {}, grant: {}, nats: {} };
        const mode = flags.json ? "json" : "text";
        return run(cli, task, { ...nothing, model: "scripted/demo", noInput: false, mode });
      }),
    );
}
