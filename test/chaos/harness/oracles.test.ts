// An oracle that never says no proves nothing: each of them is shown what it has to find.
import type { Entry, EntryBody } from "@troupe/core";
import { openEntry, sealEntry } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import type { LedgerCall } from "../../harness/ledger.ts";
import type { StoredEntry } from "./journal-stream.ts";
import { callOracle, chainOracle, type StoredRuns } from "./oracles.ts";

const session = "01a1ef83-2982-7c8e-9aa4-911dae5d1f12";
const run = "01a1ef83-2982-7c8e-9aa4-912dae5d1f12";
const reply = { text: "", calls: [], usage: { inputTokens: 1, outputTokens: 1 }, stop: "end" };
const replied = { kind: "model.replied", step: 1, reply, durationMs: 1 } as unknown as EntryBody;
const claimed: EntryBody = { kind: "run.claimed", reason: "taken_over" };
const started: EntryBody = { kind: "tool.started", step: 1, call: 0, tool: "shell", argsHash: "x", plan: null };

/** A run's entries, each stored a second after the other. The chain is real, its facts need not make sense. */
function journaled(...bodies: EntryBody[]): StoredRuns {
  let prev: string | null = null;
  const entries = bodies.map((body, index): StoredEntry => {
    const head = { v: 1 as const, session, run, index, epoch: 1, host: "a", at: 0, prev };
    const { text, hash } = sealEntry(head, body);
    prev = hash;
    return { entry: { ...JSON.parse(text) } as Entry, text, storedAt: 1_000 * (index + 1) };
  });
  return new Map([[run, entries]]);
}

const called = (key: string, at: number): LedgerCall => ({ pid: 1, at, kind: "model", key: `${run}/${key}` });
const failures = (results: readonly { what: string; ok: boolean }[]): string[] =>
  results.flatMap(({ what, ok }) => (ok ? [] : [what]));

describe("the oracles", () => {
  it.each<{ what: string; runs: StoredRuns; calls: LedgerCall[]; found: string[] }>([
    { what: "nothing", runs: journaled(claimed, replied), calls: [called("model/1", 1_500)], found: [] },
    {
      what: "nothing for a call in flight at a kill",
      runs: journaled(claimed, claimed, replied),
      calls: [called("model/1", 1_500), called("model/1", 2_500)],
      found: [],
    },
    {
      what: "a call that is repeated after its outcome",
      runs: journaled(claimed, replied, claimed),
      calls: [called("model/1", 1_500), called("model/1", 3_500)],
      found: ["O1 calls begun after their outcome was in the journal"],
    },
    {
      what: "two outcomes",
      runs: journaled(claimed, replied, replied),
      calls: [called("model/1", 1_500)],
      found: ["O1 calls with more than one outcome"],
    },
    {
      what: "an unsafe call that is made twice",
      runs: journaled(claimed, started, claimed),
      calls: [called("tool/1/0", 1_500), called("tool/1/0", 3_500)],
      found: ["O1 unsafe calls begun twice"],
    },
    {
      what: "a call with more attempts than claims of its run",
      runs: journaled(claimed, replied),
      calls: [called("model/1", 1_500), called("model/1", 1_600)],
      found: ["O1 calls repeated more often than their run was taken up"],
    },
  ])("finds $what", ({ runs, calls, found }) => {
    expect(failures(callOracle(runs, calls))).toEqual(found);
  });

  it("lets one late call of a process pass for each time it was suspended", () => {
    const runs = journaled(claimed, replied, claimed);
    const late = [called("model/1", 1_500), called("model/1", 3_500), called("model/1", 3_600)];
    const [{ pid } = { pid: 0 }] = late;
    const what = "O1 calls begun after their outcome was in the journal";
    const lateCalls = (stops: number, suspended = pid) =>
      callOracle(runs, late, { pid: suspended, stops }).find((result) => result.what === what)?.ok;
    expect([lateCalls(1), lateCalls(2), lateCalls(2, pid + 1)]).toEqual([false, true, false]);
  });
});

it("the chain oracle finds changed, missing and unfinished entries", () => {
  const [whole] = [...journaled(claimed, replied, claimed).values()];
  const entries = [...(whole ?? [])];
  const gone = new Map([[run, entries.toSpliced(1, 1)]]);
  expect(failures(chainOracle(gone))).toEqual(["O4 broken chains", "runs without an end"]);
  const changed = entries.map((stored, i) =>
    i === 1 ? { ...stored, text: stored.text.replace("end", "and") } : stored,
  );
  expect(failures(chainOracle(new Map([[run, changed]])))).toContain("O4 broken chains");
  expect(() => openEntry("{}")).toThrow();
});
