/**
 * Causes faults in real processes and a real nats-server, then checks the invariants. For usage run
 * `node test/chaos/main.ts --help`. The seed decides the victims and times of kills. The work in between depends on the
 * machine, so one seed repeats the same faults but not the same instructions.
 */
import { parseArgs } from "node:util";
import { canMakeNamespaces } from "./harness/namespaces.ts";
import type { OracleResult } from "./harness/oracle-result.ts";
import { runScenario } from "./harness/run-scenario.ts";
import { type Scenario, type Settings, settingsOf } from "./harness/scenario.ts";
import { scenarios } from "./scenarios/index.ts";

const numbers = {
  seed: "decides who is killed and when",
  seeds: "so many seeds, one after the other, from --seed on",
  lease: "milliseconds for which a task stays with a host that has died",
  runs: "sessions that are played",
  minutes: "how long the fault lasts, or faults go on",
  daemons: "daemons",
  workers: "workers",
  moments: "how many of the twelve named moments, for scenarios that kill a process at each",
} as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...Object.fromEntries(Object.keys(numbers).map((name) => [name, { type: "string" as const }])),
    help: { type: "boolean", short: "h" },
    short: { type: "boolean" },
    keep: { type: "boolean" },
    json: { type: "boolean" },
    cluster: { type: "boolean" },
  },
});

// A signal must not leave processes, networks or disks behind.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

if (values.help || positionals.length === 0) {
  console.log(usage());
} else {
  // Everything is cleaned up by now, so leftover sockets and timers must not delay the exit.
  process.exit(await runAll(chosen(positionals), overridesOf()));
}

function usage(): string {
  const clustered = scenarios.filter(({ supportsCluster: knowsCluster }) => knowsCluster).map(({ name }) => name);
  const list = scenarios.map(({ name, what }) => `  ${name.padEnd(10)}${what}`).join("\n");
  const flags = Object.entries(numbers).map(([name, what]) => `  --${`${name} N`.padEnd(12)}${what}`);
  return `node test/chaos/main.ts SCENARIO… [flags]

Plays faults against real processes and prints the results beside the expected ones.
Needs a build (npx -y pnpm@12 build) and a nats-server (node scripts/fetch-nats.ts). Some scenarios need root, for
network namespaces. Everything happens on this machine, in a folder of /tmp and on addresses of its own.

scenarios, or "all":
${list}

flags (each scenario has its own defaults):
${flags.join("\n")}
  --short       as in the test command: seconds instead of minutes
  --cluster     three nats-servers that are one cluster instead of one (${clustered.join(", ")})
  --keep        leaves the folder, with every log
  --json        one object for each scenario
`;
}

function chosen(names: readonly string[]): Scenario[] {
  if (names.includes("all")) return [...scenarios];
  const unknown = names.find((wanted) => !scenarios.some(({ name }) => name === wanted));
  if (unknown === undefined) return scenarios.filter(({ name }) => names.includes(name));
  console.error(`there is no scenario ${unknown}; see node test/chaos/main.ts --help`);
  process.exit(2);
}

function overridesOf(): Partial<Settings> {
  const flags = values as Record<string, string | undefined>;
  const read = (name: string): number | undefined => (flags[name] === undefined ? undefined : Number(flags[name]));
  const pairs = [
    ["seed", read("seed")],
    ["seeds", read("seeds")],
    ["leaseMs", read("lease")],
    ["runs", read("runs")],
    ["minutes", read("minutes")],
    ["daemons", read("daemons")],
    ["workers", read("workers")],
    ["moments", read("moments")],
  ].filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(pairs), ...(values.cluster ? { cluster: true } : {}) };
}

async function runAll(wanted: readonly Scenario[], overrides: Partial<Settings>): Promise<number> {
  const hasNamespaces = await canMakeNamespaces();
  let failures = 0;
  for (const scenario of wanted) {
    if (scenario.needsRoot && !hasNamespaces) {
      console.log(`${scenario.name}: not played, because this user cannot make network namespaces (root can)\n`);
      continue;
    }
    if (values.cluster && !scenario.supportsCluster) {
      console.log(`${scenario.name}: not played, because it knows one server only\n`);
      continue;
    }
    const settings = settingsOf(scenario, values.short ? "short" : "long", overrides);
    const { results, tookMs, folder } = await runScenario(scenario, { settings, keep: values.keep === true });
    failures += results.filter(({ ok }) => !ok).length;
    if (values.json) console.log(JSON.stringify({ scenario: scenario.name, settings, tookMs, verdicts: results }));
    else print(scenario, settings, tookMs, results);
    if (folder) console.log(`its files are in ${folder}\n`);
  }
  return failures > 0 ? 1 : 0;
}

function print(scenario: Scenario, settings: Settings, tookMs: number, results: readonly OracleResult[]): void {
  const { seed, seeds, leaseMs, runs, minutes, daemons, workers, cluster } = settings;
  const command = `--seed ${seed} --seeds ${seeds} --lease ${leaseMs} --runs ${runs} --minutes ${minutes} --daemons ${daemons} --workers ${workers}${cluster ? " --cluster" : ""}`;
  console.log(`## ${scenario.name}: ${scenario.what}\n\n${command}; took ${(tookMs / 1000).toFixed(1)} s\n`);
  console.log("| what | measured | wanted | |\n| --- | --- | --- | --- |");
  for (const { what, value, wanted = "", ok } of results) {
    console.log(`| ${what} | ${value} | ${wanted} | ${wanted === "" ? "" : ok ? "ok" : "**NOT**"} |`);
  }
  console.log("");
}
