/** The check before each effect: does this host still hold the run? The journal answers where the lease cannot. */

import { silentLogger } from "@troupe/core";
import { createMemoryJournal, createTwoClocks, type TwoClocks } from "@troupe/core/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { rootRequest } from "../host-deps.test-helper.ts";
import { sealEntries } from "../run/seal-entries.ts";
import { createFence } from "./fence.ts";

const leaseMs = 8_000;
const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });
const { session, run } = request;

let clock: TwoClocks;
let journal: ReturnType<typeof createMemoryJournal>;
let isSure: boolean;
let renews: () => boolean | Promise<boolean>;
let isOver: boolean;
let lost: string[];
let reads: number;

beforeEach(() => {
  clock = createTwoClocks();
  journal = createMemoryJournal();
  isSure = false;
  renews = () => true;
  isOver = false;
  lost = [];
  reads = 0;
});

/** Appends an entry of a host at the given index. */
async function write(index: number, epoch: number, host: string): Promise<void> {
  const writer = { session, run, epoch, host, at: 1 };
  const [written] = sealEntries(
    writer,
    { index: index - 1, hash: null },
    [{ kind: "run.claimed", reason: "resumed" }],
    undefined,
  );
  if (written) await journal.append({ session, run, after: index - 1, entries: [written.sealed], terminal: false });
}

function fence(
  read: (lastOf: typeof journal.lastOf) => typeof journal.lastOf = (lastOf) => lastOf,
): () => Promise<boolean> {
  const counted: typeof journal.lastOf = (...place) => {
    reads += 1;
    return journal.lastOf(...place);
  };
  return createFence({
    deps: { journal: { ...journal, lastOf: read(counted) }, clock, logger: silentLogger, hostId: "us", leaseMs },
    request,
    task: { isCertain: () => isSure, renew: async () => await renews() },
    head: () => ({ index: 1, epoch: 2 }),
    isEnded: () => isOver,
    lost(why) {
      lost.push(why);
      isOver = true;
    },
  });
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    clock.advance(100);
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function ours(): Promise<void> {
  await write(0, 1, "us");
  await write(1, 2, "us");
}

describe("a run is held", () => {
  test("without a read of the journal while the lease is certain, and not once the run is over", async () => {
    isSure = true;
    expect(await fence()()).toBe(true);
    isOver = true;
    expect([await fence()(), reads]).toEqual([false, 0]);
  });

  test("if the journal ends with this host's last write", async () => {
    await ours();
    expect([await fence()(), lost]).toEqual([true, []]);
  });

  test("if the journal ends with this host's current write", async () => {
    await ours();
    await write(2, 2, "us");
    expect([await fence()(), lost]).toEqual([true, []]);
  });

  test("by one read for all concurrent callers", async () => {
    await ours();
    const isOurs = fence();
    expect([await Promise.all([isOurs(), isOurs(), isOurs()]), reads]).toEqual([[true, true, true], 1]);
  });

  test("as long as the journal shows it, even without a confirmed lease", async () => {
    await ours();
    renews = () => false;
    expect([await fence()(), lost]).toEqual([true, []]);
  });
});

describe("a run is lost", () => {
  test.for<{ what: string; epoch: number; host: string }>([
    { what: "another host has claimed it", epoch: 3, host: "them" },
    { what: "another process of this name has claimed it", epoch: 3, host: "us" },
    { what: "another host has written under this host's epoch", epoch: 2, host: "them" },
  ])("where $what", async ({ epoch, host }) => {
    await ours();
    await write(2, epoch, host);
    expect([await fence()(), lost]).toEqual([false, ["another host has claimed it"]]);
  });

  test("if another host claims it while this process sleeps after its read", async () => {
    await ours();
    let naps = 0;
    renews = async () => {
      naps += 1;
      if (naps > 1) return false;
      clock.sleep(60_000);
      await write(2, 3, "them");
      return false;
    };
    expect([await fence()(), lost]).toEqual([false, ["another host has claimed it"]]);
  });

  test("not by one stale read, but by a journal that has lost its end", async () => {
    await ours();
    let behind = 3;
    const readsBehind =
      (lastOf: typeof journal.lastOf): typeof journal.lastOf =>
      async (...place) =>
        behind-- > 0 ? null : await lastOf(...place);
    const waits = fence(readsBehind)();
    await pass(3_000);
    expect([await waits, lost]).toEqual([true, []]);
    behind = Number.POSITIVE_INFINITY;
    const gone = fence(readsBehind)();
    await pass(10_000);
    expect([await gone, lost]).toEqual([false, ["the journal has lost its end"]]);
  });
});

describe("while the journal cannot be read", () => {
  const unreadable = () => () => Promise.reject(new Error("out of reach"));

  test("the holder is unknown, and no effect starts", async () => {
    await ours();
    let answered = false;
    void fence(unreadable)().then(() => {
      answered = true;
    });
    await pass(60_000);
    expect([answered, lost]).toEqual([false, []]);
  });

  test("a waiting caller ends with the run", async () => {
    await ours();
    const waits = fence(unreadable)();
    isOver = true;
    await pass(1_000);
    expect([await waits, lost]).toEqual([false, []]);
  });
});
