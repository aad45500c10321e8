import { acquireHome, type RecordVerified, rebuildRecord, verifyRecord } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";

/** `troupe record verify`: checks journal and record. Returns 1 if something is wrong. */
export async function verifyHomeRecord(cli: Cli, { json }: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const found = await verifyRecord({ home: cli.home });
  const ok = found.damage.length === 0 && found.differing.length === 0;
  if (json) out.line(jsonLine({ ok, ...found }));
  else for (const line of linesOf(found)) out.line(cleanLine(line));
  return ok ? 0 : 1;
}

/** `troupe record rebuild`: makes the record again from the journal. */
export async function rebuildHomeRecord(cli: Cli, { json }: { json: boolean }): Promise<number> {
  const home = await acquireHome(cli.home);
  try {
    const facts = await rebuildRecord(home);
    const line = `rebuilt the record: ${facts.sessions} sessions from ${facts.items} entries and commands`;
    cli.terminal.out.line(json ? jsonLine(facts) : line);
    return 0;
  } finally {
    await home.release();
  }
}

function linesOf({ sessions, runs, items, damage, differing, behind }: RecordVerified): string[] {
  if (damage.length === 0 && differing.length === 0) {
    const unread = behind > 0 ? [`the record has not read ${behind} of them yet: the next start of troupe does`] : [];
    return [`everything is intact: ${sessions} sessions, ${runs} runs, ${items} entries and commands`, ...unread];
  }
  return [
    ...damage.map(({ store, run, index, session, reason }) => {
      const what = run === null ? `item ${index} of the inbox of session ${session}` : `entry ${index} of run ${run}`;
      return `damaged in the ${store}: ${what} ${reason}`;
    }),
    ...differing.map((session) => `the record of session ${session} differs from its journal: troupe record rebuild`),
    ...(damage.length > 0 ? ["to restore a backup: troupe restore FILE"] : []),
  ];
}
