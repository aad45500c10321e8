import type { Mutant } from "../../test/mutants/mutant.ts";
import { type MutantCheckout, type MutantResult, nameOf } from "./mutant-checkout.ts";
import { fileOf, packageOf } from "./mutants.ts";
import { isWithin } from "./requirements-page.ts";
import type { TestReply } from "./warm-tests.ts";

/** Checks mutants in several checkouts at once. */
export class MutantRun {
  readonly #places: readonly MutantCheckout[];
  readonly #signal: AbortSignal;
  /** The tests that mutants name, by their file (`keyOf`). */
  #named = new Map<string, Set<string>>();
  /** The same tests without a mutant. They run once, before the first mutant of their file. */
  readonly #green = new Map<string, Promise<TestReply | null>>();

  constructor(places: readonly MutantCheckout[], signal: AbortSignal) {
    this.#places = places;
    this.#signal = signal;
  }

  async test(
    mutants: readonly Mutant[],
    report: (mutant: Mutant, result: MutantResult) => void,
  ): Promise<Map<Mutant, MutantResult>> {
    const named = mutants.flatMap((mutant) => mutant.tests.map((test) => ({ test, key: keyOf(mutant, test) })));
    const byFile = Map.groupBy(named, ({ key }) => key);
    this.#named = new Map([...byFile].map(([key, tests]) => [key, new Set(tests.map(({ test }) => test))]));
    const results = new Map<Mutant, MutantResult>();
    await this.#shareOut(inOrder(mutants), async (place, mutant) => {
      const result = await this.#check(place, mutant);
      if (this.#signal.aborted) return;
      results.set(mutant, result);
      report(mutant, result);
    });
    return results;
  }

  async #check(place: MutantCheckout, mutant: Mutant): Promise<MutantResult> {
    const replies = new Map<string, TestReply | null>();
    for (const test of mutant.tests) {
      const key = keyOf(mutant, test);
      replies.set(test, await this.#runWithoutMutant(place, key));
    }
    const durationOf = (test: string): number => replies.get(test)?.durationMs ?? 0;
    const tests = mutant.tests.toSorted((a, b) => durationOf(a) - durationOf(b));
    return redWithout(replies) ?? (await place.test({ ...mutant, tests }));
  }

  #runWithoutMutant(place: MutantCheckout, key: string): Promise<TestReply | null> {
    const known = this.#green.get(key);
    if (known) return known;
    const names = [...(this.#named.get(key) ?? [])];
    const options = { bail: false, long: key.startsWith("long ") };
    const run = () => place.testWithoutMutant(fileOf(names[0] ?? ""), names, options);
    // A second try: one moment without a processor must not make the mutants of a file unusable.
    const isRed = (reply: TestReply | null) => reply?.tests.some(({ status }) => status === "failed");
    const running = run().then((reply) => (isRed(reply) ? run() : reply));
    this.#green.set(key, running);
    return running;
  }

  async #shareOut<T>(items: readonly T[], work: (place: MutantCheckout, item: T) => Promise<void>): Promise<void> {
    const queue = [...items];
    const workAt = async (place: MutantCheckout): Promise<void> => {
      for (let item = queue.shift(); item !== undefined && !this.#signal.aborted; item = queue.shift()) {
        await work(place, item);
      }
    };
    await Promise.all(this.#places.map(workAt));
  }
}

/**
 * First the mutants whose tests start no processes: most of them take a second. Neighbours share their package, so that few
 * packages are built twice, and then their tests.
 */
function inOrder(mutants: readonly Mutant[]): Mutant[] {
  const orderOf = ({ file, tests }: Mutant): string => {
    const isQuick = tests.every((test) => packageOf(test) !== undefined);
    return `${isQuick ? 0 : 1} ${packageOf(file) ?? ""} ${fileOf(tests[0] ?? "")}`;
  };
  return mutants.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)));
}

/** A test proves nothing about a mutant if it does not pass without it. */
function redWithout(replies: ReadonlyMap<string, TestReply | null>): MutantResult | null {
  for (const [name, reply] of replies) {
    const found = reply?.tests.filter((test) => isWithin(nameOf(test), name)) ?? [];
    const bad = found.find(({ status }) => status !== "passed");
    if (bad) return { outcome: "broken", why: `without the mutant ${bad.status}: ${nameOf(bad)}` };
    if (found.length === 0) return { outcome: "broken", why: reply?.problem ?? `did not run: ${name}` };
  }
  return null;
}

/** The file of a test; its tests of the long run are another file. */
function keyOf({ long }: Mutant, test: string): string {
  return `${long ? "long " : ""}${fileOf(test)}`;
}
