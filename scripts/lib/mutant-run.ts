import type { Mutant } from "../../test/mutants/mutant.ts";
import { type MutantCheckout, type MutantResult, nameOf } from "./mutant-checkout.ts";
import { fileOf, packageOf } from "./mutants.ts";
import { isWithin } from "./requirements-page.ts";
import type { TestReply } from "./warm-tests.ts";

/** Checks mutants in several checkouts at once. */
export class MutantRun {
  readonly #places: readonly MutantCheckout[];
  readonly #signal: AbortSignal;
  /** The named tests of each file (`keyOf`), without a mutant. */
  readonly #green = new Map<string, TestReply | null>();

  constructor(places: readonly MutantCheckout[], signal: AbortSignal) {
    this.#places = places;
    this.#signal = signal;
  }

  async test(
    mutants: readonly Mutant[],
    report: (mutant: Mutant, result: MutantResult) => void,
  ): Promise<Map<Mutant, MutantResult>> {
    await this.#runWithoutMutants(mutants);
    const results = new Map<Mutant, MutantResult>();
    await this.#shareOut(this.#inOrder(mutants), async (place, mutant) => {
      const result = this.#redWithout(mutant) ?? (await place.test(this.#shortestFirst(mutant)));
      if (this.#signal.aborted) return;
      results.set(mutant, result);
      report(mutant, result);
    });
    return results;
  }

  async #runWithoutMutants(mutants: readonly Mutant[]): Promise<void> {
    const named = mutants.flatMap((mutant) => mutant.tests.map((test) => ({ test, key: keyOf(mutant, test) })));
    await this.#shareOut([...Map.groupBy(named, ({ key }) => key)], async (place, [key, tests]) => {
      const names = [...new Set(tests.map(({ test }) => test))];
      const options = { bail: false, long: key.startsWith("long ") };
      const file = fileOf(names[0] ?? "");
      let reply = await place.runTests(file, names, options);
      // A second try: one moment without a processor must not make the mutants of a file unusable.
      if (reply?.tests.some(({ status }) => status === "failed")) {
        reply = await place.runTests(file, names, options);
      }
      this.#green.set(key, reply);
    });
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

  /** Neighbours share their package, so that few packages are built twice, and then their tests. */
  #inOrder(mutants: readonly Mutant[]): Mutant[] {
    const orderOf = ({ file, tests }: Mutant): string => `${packageOf(file) ?? ""} ${fileOf(tests[0] ?? "")}`;
    return mutants.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)));
  }

  #shortestFirst(mutant: Mutant): Mutant {
    const durationOf = (test: string): number => this.#green.get(keyOf(mutant, test))?.durationMs ?? 0;
    return { ...mutant, tests: mutant.tests.toSorted((a, b) => durationOf(a) - durationOf(b)) };
  }

  /** A test proves nothing about a mutant if it does not pass without it. */
  #redWithout(mutant: Mutant): MutantResult | null {
    for (const name of mutant.tests) {
      const reply = this.#green.get(keyOf(mutant, name));
      const found = reply?.tests.filter((test) => isWithin(nameOf(test), name)) ?? [];
      const bad = found.find(({ status }) => status !== "passed");
      if (bad) return { outcome: "broken", why: `without the mutant ${bad.status}: ${nameOf(bad)}` };
      if (found.length === 0) return { outcome: "broken", why: reply?.problem ?? `did not run: ${name}` };
    }
    return null;
  }
}

/** The file of a test; its tests of the long run are another file. */
function keyOf({ long }: Mutant, test: string): string {
  return `${long ? "long " : ""}${fileOf(test)}`;
}
