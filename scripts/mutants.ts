import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { Mutant } from "../test/mutants/mutant.ts";
import { run, say } from "./lib/command.ts";
import { MutantCheckout, type MutantResult } from "./lib/mutant-checkout.ts";
import { MutantInputs } from "./lib/mutant-inputs.ts";
import { MutantRun } from "./lib/mutant-run.ts";
import { loadMutants, mutantProblems } from "./lib/mutants.ts";
import { fetchNeeds } from "./lib/needs.ts";
import { root } from "./lib/project.ts";
import { numberOf } from "./lib/requirements-page.ts";
import { StoredKills } from "./lib/stored-kills.ts";

/** More copies take longer to install than they save. */
const jobsDefault = Math.min(availableParallelism(), 4);

const help = `Breaks the product, one edit at a time, and expects that tests notice.

  pnpm test:mutants [row, number, section, part or name ...] [--list] [--jobs N] [--here] [--again]

  --list     prints the mutants and their tests
  --jobs N   works in N copies of the checkout at once (default ${jobsDefault}: one per core, at most 4)
  --here     applies the mutants to this checkout, with its uncommitted changes, and restores each file; the default
             is a temporary git worktree of HEAD
  --again    also runs the mutants that were killed before

Each mutant is killed (a named test turned red), survived, or broken: it does not compile, a file of tests did not
load, or a named test did not run or is red without the mutant. The exit code is 0 only if all are killed.

test/.artifacts/mutants.json keeps each kill with a hash of the mutant, its tests and the sources that they load. A later run
repeats only mutants whose inputs have changed, so you can stop a run and go on with it.

  pnpm test:mutants S5                    the mutants of a section
  pnpm test:mutants S5.3 S5.4 --here      the mutants of two numbers, in this checkout
`;

const stopping = new AbortController();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2).filter((word) => word !== "--"),
    allowPositionals: true,
    options: {
      list: { type: "boolean", default: false },
      here: { type: "boolean", default: false },
      again: { type: "boolean", default: false },
      jobs: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  const jobs = Number(values.jobs ?? (values.here ? 1 : jobsDefault));
  if (!Number.isInteger(jobs) || jobs < 1) return fail(`--jobs must be a whole number from 1: ${values.jobs}`);
  if (values.here && jobs > 1) return fail("--here works in one folder: leave out --jobs");
  const all = await loadMutants(root);
  const unknown = positionals.filter((word) => !all.some((mutant) => isMeant(mutant, word)));
  if (unknown.length > 0) return fail(`no mutant has the row or the name ${unknown.join(", ")}. See --list`);
  if (values.list) return choose(all, positionals).forEach(print);
  await runMutants({ words: positionals, here: values.here, again: values.again, jobs });
}

function choose(all: readonly Mutant[], words: readonly string[]): Mutant[] {
  return all.filter((mutant) => words.length === 0 || words.some((word) => isMeant(mutant, word)));
}

interface RunOptions {
  words: readonly string[];
  here: boolean;
  again: boolean;
  jobs: number;
}

function fail(message: string): void {
  say(message);
  process.exitCode = 1;
}

function isMeant({ name, rows, part }: Mutant, word: string): boolean {
  return (
    name === word ||
    part === word ||
    rows.some((id) => id === word || numberOf(id) === word || id.startsWith(`${word}.`))
  );
}

function print(mutant: Mutant): void {
  console.log(`${titleOf(mutant)} (${mutant.file})`);
  for (const test of mutant.tests) console.log(`  ${test}`);
}

function titleOf({ name, rows, part }: Mutant): string {
  return `${[part, ...rows].filter(Boolean).join(", ")}: ${name}`;
}

async function runMutants({ words, here, again, jobs }: RunOptions): Promise<void> {
  const beganMs = performance.now();
  // A second Ctrl-C ends the process at once.
  const stop = (): void => stopping.abort(new Error("stopped"));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  if (!here) await warnOfChanges();
  const { env } = await fetchNeeds();
  const options = { env, signal: stopping.signal };
  await using checkouts = new AsyncDisposableStack();
  const first = checkouts.use(here ? MutantCheckout.here(options) : await MutantCheckout.copy(options));
  // A copy has its own list, which fits its sources.
  const mutants = choose(await loadMutants(first.folder), words);
  const problems = mutantProblems(mutants, first.folder);
  if (problems.length > 0) return fail(problems.join("\n"));
  const kills = new StoredKills();
  const inputs = await MutantInputs.of(first.folder);
  const isStored = (mutant: Mutant): boolean => !again && kills.killOf(mutant, inputs.hashOf(mutant)) !== undefined;
  const waiting = mutants.filter((mutant) => !isStored(mutant));
  const stored = mutants.length - waiting.length;
  if (stored > 0)
    say(`mutants: ${stored} of ${mutants.length} were killed before, and nothing has changed (--again repeats them)`);
  if (waiting.length === 0) return conclude(new Map(), { stored, all: mutants.length });
  const places = [first];
  while (places.length < Math.min(jobs, waiting.length)) places.push(checkouts.use(await MutantCheckout.copy(options)));
  // One after the other, because they share the store of packages and the cache of builds.
  for (const place of places) await place.prepare();
  const results = await new MutantRun(places, stopping.signal).test(waiting, (mutant, result) => {
    console.log(`${result.outcome}: ${titleOf(mutant)} (${result.why})`);
    if (result.outcome === "killed") kills.add(mutant, { inputs: inputs.hashOf(mutant), why: result.why });
  });
  conclude(results, { stored, all: mutants.length });
  say(`mutants: ${results.size} ran in ${Math.ceil((performance.now() - beganMs) / 60_000)} min`);
}

function conclude(results: Map<Mutant, MutantResult>, { stored, all }: { stored: number; all: number }): void {
  const having = (outcome: MutantResult["outcome"]) => [...results].filter(([, result]) => result.outcome === outcome);
  // Again at the end, where a reader looks for them.
  for (const [mutant, { outcome, why }] of [...having("survived"), ...having("broken")]) {
    say(`${outcome}: ${titleOf(mutant)} (${why})`);
  }
  const killed = having("killed").length + stored;
  const left = all - stored - results.size;
  const [survived, broken] = [having("survived").length, having("broken").length];
  console.log(
    `mutants: ${killed} killed, ${survived} survived, ${broken} broken${left > 0 ? `, ${left} did not run` : ""}`,
  );
  process.exitCode = killed === all ? 0 : 1;
}

async function warnOfChanges(): Promise<void> {
  const { output } = await run(["git", "status", "--porcelain"], { output: "capture" });
  if (output !== "") say("mutants: HEAD is tested, without the uncommitted changes (--here includes them)");
}

await main();
