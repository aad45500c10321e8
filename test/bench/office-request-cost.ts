/**
 * Requests to the office by patterns, from the request to the response, with journal and record on; beside the same work by
 * the connector alone.
 *
 * node test/bench/office-request-cost.ts [requests]
 */
import { mkdir, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalOffice, seedOffice } from "@troupe/connectors";
import { createTroupe } from "troupe";

const requests = Number(process.argv[2] ?? 200);
await using made = await mkdtempDisposable(join(tmpdir(), "troupe-bench-requests-"));
const home = join(made.path, "home");
const workspace = join(made.path, "work");
await mkdir(workspace);
const office = openLocalOffice({ folder: join(made.path, "office") });
seedOffice(office);
const env = { HOME: made.path, PATH: process.env.PATH, TROUPE_HOME: home };
const troupe = await createTroupe({ env, workspace, connectors: office });

const find = "Find contact info for people at Acme Corp";
const summarize = "Summarize recent discussions in #project-alpha";
const ask = async (task: string, to: { agent: string } | { team: string }): Promise<void> => {
  const { success, error } = await troupe.run(task, to);
  if (!success) throw new Error(error?.message);
};
const times = {
  findMs: await timesOf(() => ask(find, { agent: "office_contacts" })),
  summarizeMs: await timesOf(() => ask(summarize, { agent: "office_slack" })),
  teamMs: await timesOf(() => ask(find, { team: "office" })),
  floorMs: await timesOf(() => office.contacts.searchContacts({ organization: "Acme Corp" })),
};
await troupe.close();
office.close();
console.log(JSON.stringify(times));

interface Times {
  p50: number;
  p99: number;
  /** Time of the processor for each, in all threads: it depends less on other programs. */
  cpu: number;
}

/** Median and 99th percentile, after the libraries have loaded. */
async function timesOf(act: () => unknown): Promise<Times> {
  for (let i = 0; i < 10; i += 1) await act();
  const all: number[] = [];
  const before = process.cpuUsage();
  for (let i = 0; i < requests; i += 1) {
    const startedMs = performance.now();
    await act();
    all.push(performance.now() - startedMs);
  }
  const { user, system } = process.cpuUsage(before);
  all.sort((a, b) => a - b);
  const at = (share: number) => all[Math.floor(requests * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), cpu: (user + system) / 1_000 / requests };
}
