import { parseArgs } from "node:util";
import type { Mutant } from "../test/mutants/mutant.ts";
import { run, say } from "./lib/command.ts";
import { MutantCheckout, nameOf, packageOf, type Verdict } from "./lib/mutant-checkout.ts";
import { loadMutants, mutantProblems } from "./lib/mutants.ts";
import { fetchNeeds } from "./lib/needs.ts";
import { root } from "./lib/project.ts";
import { isWithin, numberOf } from "./lib/requirements-page.ts";
import type { TestReport } from "./lib/vitest-report.ts";

const help = `Breaks the product, one edit at a time, and expects that tests notice.

  pnpm test:mutants [row, number or name ...] [--list] [--jobs N] [--here]

  --list     prints the mutants and their tests
  --jobs N   works in N copies of the checkout at once (default 1)
  --here     applies the mutants to this checkout, with its uncommitted changes, and restores each file; the default
             is a temporary git worktree of HEAD

Each mutant is killed (a named test turned red), survived, or broken: it does not compile, a file of tests did not
load, or a named test did not run or is red without the mutant. The exit code is 0 only if all are killed.
`;

const stopping = new AbortController();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2).filter((word) => word !== "--"),
    allowPositionals: true,
    options: {
      list: { type: "boolean", default: false },
      here: { type: "boolean", default: false },
      jobs: { type: "string", default: "1" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1) return fail(`--jobs must be a whole number from 1: ${values.jobs}`);
  if (values.here && jobs > 1) return fail("--here works in one folder: leave out --jobs");
  const all = await loadMutants(root);
  const unknown = positionals.filter((word) => !all.some((mutant) => isMeant(mutant, word)));
  if (unknown.length > 0) return fail(`no mutant has the row or the name ${unknown.join(", ")}. See --list`);
  const chosen = all.filter((mutant) => positionals.length === 0 || positionals.some((word) => isMeant(mutant, word)));
  if (values.list) return chosen.forEach(print);
  const problems = mutantProblems(chosen, root);
  if (problems.length > 0) return fail(problems.join("\n"));
  await runMutants(chosen, { here: values.here, jobs });
}

function fail(message: string): void {
  say(message);
  process.exitCode = 1;
}

function isMeant({ name, rows }: Mutant, word: string): boolean {
  return name === word || rows.some((id) => id === word || numberOf(id) === word);
}

function print({ name, rows, file, tests }: Mutant): void {
  console.log(`${rows.join(", ")}: ${name} (${file})`);
  for (const test of tests) console.log(`  ${test}`);
}

async function runMutants(mutants: Mutant[], { here, jobs }: { here: boolean; jobs: number }): Promise<void> {
  // A second Ctrl-C ends the process at once.
  const stop = (): void => stopping.abort(new Error("stopped"));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const { env } = await fetchNeeds();
  const options = { env, signal: stopping.signal };
  await using checkouts = new AsyncDisposableStack();
  if (!here) await warnOfChanges();
  const places: MutantCheckout[] = [];
  for (let i = 0; i < Math.min(jobs, mutants.length); i += 1) {
    places.push(checkouts.use(here ? MutantCheckout.here(options) : await MutantCheckout.copy(options)));
  }
  const verdicts = await shareOut(places, mutants);
  const count = (outcome: Verdict["outcome"]): number => verdicts.filter((one) => one.outcome === outcome).length;
  console.log(`mutants: ${count("killed")} killed, ${count("survived")} survived, ${count("broken")} broken`);
  process.exitCode = count("killed") === mutants.length ? 0 : 1;
}

async function warnOfChanges(): Promise<void> {
  const { output } = await run(["git", "status", "--porcelain"], { output: "capture" });
  if (output !== "") say("mutants: HEAD is tested, without the uncommitted changes (--here includes them)");
}

/** The mutants of one package are neighbours, so that few packages are built twice. */
async function shareOut(places: MutantCheckout[], mutants: Mutant[]): Promise<Verdict[]> {
  const [first] = places;
  if (!first) return [];
  say(`mutants: running the named tests without a mutant`);
  const red = redTests(await first.runTests(mutants.flatMap(({ tests }) => tests)));
  const queue = mutants.toSorted((a, b) => (packageOf(a.file) ?? "").localeCompare(packageOf(b.file) ?? ""));
  const verdicts: Verdict[] = [];
  const work = async (place: MutantCheckout): Promise<void> => {
    for (let mutant = queue.shift(); mutant && !stopping.signal.aborted; mutant = queue.shift()) {
      const verdict = red(mutant) ?? (await place.test(mutant));
      if (stopping.signal.aborted) return;
      verdicts.push(verdict);
      console.log(`${verdict.outcome}: ${mutant.rows.join(", ")}: ${mutant.name} (${verdict.why})`);
    }
  };
  await Promise.all(places.map(work));
  return verdicts;
}

/** Tests that prove nothing about a mutant, because they do not pass without it. */
function redTests(report: TestReport | null): (mutant: Mutant) => Verdict | null {
  return ({ tests }) => {
    for (const name of tests) {
      const found = report?.tests.filter((test) => isWithin(nameOf(test), name)) ?? [];
      const bad = found.find(({ status }) => status !== "passed");
      if (bad) return { outcome: "broken", why: `without the mutant ${bad.status}: ${nameOf(bad)}` };
      if (found.length === 0) return { outcome: "broken", why: `did not run: ${name}` };
    }
    return null;
  };
}

await main();
