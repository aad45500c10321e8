import { readFile } from "node:fs/promises";
import path from "node:path";
import type { CliOptions, CliResult } from "../../harness/cli.ts";
import type { InProcessCommand } from "../../harness/cli-in-process.ts";
import { wordsOf } from "../../harness/guide.ts";
import { startInTerminal } from "../../harness/terminal.ts";
import { until } from "../../harness/until.ts";
import type { ExampleCase, Prepared } from "./example-case.ts";
import type { Shop } from "./shop.ts";

/** Executes one line of the help as a shell would, with further flags at its end. */
export async function executeExample(
  shop: Shop,
  line: string,
  example: ExampleCase,
  more: readonly string[] = [],
): Promise<CliResult> {
  const prepared = (await example.prepare?.(shop)) ?? {};
  const { args, input } = await parse(shop, line, prepared);
  const options: Partial<CliOptions> = {
    ...(prepared.env === undefined ? {} : { env: { ...prepared.env } }),
    ...(input === undefined ? {} : { input }),
  };
  const words = [...args, ...more];
  if (example.types && more.length === 0) return await answerAtTerminal(shop, words, example.types, options);
  if (example.ownProcess) return await shop.run(words, options);
  const command = shop.start(words, options);
  if (example.opens) await open(command, example.opens);
  if (example.endsAfter) await interrupt(command, more.length === 0 ? example.endsAfter : null);
  return await command.ended;
}

/** The arguments of the line, and the content of the file that it reads. */
async function parse(
  shop: Shop,
  line: string,
  { words = {}, input }: Prepared,
): Promise<{ args: string[]; input: string | undefined }> {
  const [command = "", file] = line.split(/\s+<\s+/);
  const home = shop.env.HOME ?? "";
  const args = wordsOf(command)
    .slice(1)
    .map((word) => word.replace(/^~/, home))
    .map((word) => Object.entries(words).reduce((text, [from, to]) => text.replaceAll(from, to), word));
  if (file === undefined) return { args, input };
  return { args, input: await readFile(path.join(shop.folder, file), "utf8") };
}

async function open(command: InProcessCommand, url: RegExp): Promise<void> {
  const [found = ""] = await until(() => url.exec(command.stdout() + command.stderr()));
  await (await fetch(found)).text();
}

/** Sends Ctrl-C after this was shown; null: after one line of standard output. */
async function interrupt(command: InProcessCommand, shown: RegExp | null): Promise<void> {
  let isOver = false;
  void command.ended.finally(() => {
    isOver = true;
  });
  const isShown = () =>
    shown === null ? command.stdout().includes("\n") : shown.test(command.stdout() + command.stderr());
  await until(() => isOver || isShown());
  command.send("SIGINT");
}

async function answerAtTerminal(
  shop: Shop,
  args: string[],
  { at, key }: { at: RegExp; key: string },
  options: Partial<CliOptions>,
): Promise<CliResult> {
  const { home, folder: cwd } = shop;
  const env = { ...shop.env, ...options.env };
  const running = startInTerminal(args, { home, cwd, env, test: { onTestFinished: shop.atEnd } });
  await running.waitForOutput(at);
  await running.answer(key);
  return await running.ended;
}
