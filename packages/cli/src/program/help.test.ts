/** The help of every command: a description, an example, and an example that its own command accepts. */
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createFakeCli } from "../testing/fake-cli.ts";
import { createProgram } from "./program.ts";

/** Thrown before a command would act. */
class Reached extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`reached ${path}`);
    this.path = path;
  }
}

function newProgram(): Command {
  const { version, terminal, interrupts } = createFakeCli();
  const program = createProgram({ version, terminal, interrupts, createCli: () => Promise.reject() }, () => {});
  return program.hook("preAction", (_program, command) => {
    throw new Reached(pathOf(command));
  });
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function commandsBelow(command: Command): Command[] {
  return command.commands.flatMap((each) => [each, ...commandsBelow(each)]);
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

/** The lines of the help that a user can type. */
function examplesOf(help: string): string[] {
  const [, below = ""] = help.split(/\nExamples?:\n/);
  return [...below.matchAll(/^ +\$ (.+)$/gm)].map(([, line = ""]) => line);
}

/** The words of the command behind the pipe and before any redirection, as a shell reads them. */
function argumentsOf(line: string): string[] {
  const command = line.replace(/\s+#.*$/, "").replace(/\s+[<>].*$/, "");
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, one, two, plain]) => one ?? two ?? plain);
  return words.slice(words.lastIndexOf("troupe") + 1).flatMap((word) => word ?? []);
}

async function commandReachedBy(line: string): Promise<string> {
  try {
    await newProgram().parseAsync(argumentsOf(line), { from: "user" });
    return "no command";
  } catch (error) {
    return error instanceof Reached ? error.path : String(error);
  }
}

/** Shell scripts call `__complete`, and the help does not list it. */
const commands = commandsBelow(newProgram())
  .filter((command) => command.name() !== "__complete")
  .map((command) => [pathOf(command), command] as const);

test("the program has commands, and each argument and flag of them is described", () => {
  expect(commands.length).toBeGreaterThan(70);
  const silent = commands.flatMap(([path, command]) => [
    ...command.options.filter(({ description }) => !description).map(({ flags }) => `${path} ${flags}`),
    ...command.registeredArguments.filter(({ description }) => !description).map((each) => `${path} ${each.name()}`),
  ]);
  expect(silent).toEqual([]);
});

describe.each(commands)("%s", (path, command) => {
  test("is described in a sentence without an end mark", () => {
    const description = command.description();
    expect(description.split(" ").length).toBeGreaterThanOrEqual(3);
    expect(description).toMatch(/^[a-z].*[^.]$/);
    expect(description).not.toMatch(/\b(whoever|nobody|somebody|TODO)\b/i);
  });

  test("has an example that it accepts", async () => {
    const examples = examplesOf(helpOf(command));
    expect(examples).not.toEqual([]);
    const reached = await Promise.all(examples.map(commandReachedBy));
    // A group shows how its commands are used together.
    const isGroup = command.commands.length > 0;
    const wanted = isGroup ? reached.filter((each) => each.startsWith(`${path} `) || each === path) : reached;
    expect(wanted).not.toEqual([]);
    expect(reached.filter((each) => !each.startsWith("troupe "))).toEqual([]);
    if (!isGroup) expect([...new Set(wanted)]).toEqual([path]);
  });
});

test.each([
  ["an unknown flag", "troupe ps --jsno"],
  ["a missing argument", "troupe explain"],
  ["an argument too many", "troupe stats now"],
  ["an unknown command", "troupe agents lss"],
])("the check refuses %s", async (_name, line) => {
  expect(await commandReachedBy(line)).toMatch(/^CommanderError/);
});
