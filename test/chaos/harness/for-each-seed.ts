import { mkdir } from "node:fs/promises";
import path from "node:path";
import { seededRandom } from "../../harness/seeded-random.ts";
import type { OracleResult } from "./oracle-result.ts";
import type { ScenarioContext } from "./scenario.ts";
import { within } from "./scope.ts";

/** Runs a scenario for each seed. A failure is reported with its seed, successes in one line. */
export async function forEachSeed(
  context: ScenarioContext,
  runOnce: (context: ScenarioContext) => Promise<OracleResult[]>,
): Promise<OracleResult[]> {
  const { settings } = context;
  const resultsBySeed: OracleResult[][] = [];
  for (let seed = settings.seed; seed < settings.seed + settings.seeds; seed += 1) {
    const folder = path.join(context.folder, `seed-${seed}`);
    await mkdir(folder, { recursive: true });
    const one = { settings: { ...settings, seed }, folder, random: seededRandom(seed) };
    const results = await within((scope) => runOnce({ ...one, scope }));
    resultsBySeed.push(
      results.map((result) => (result.ok ? result : { ...result, what: `${result.what} (seed ${seed})` })),
    );
  }
  return settings.seeds === 1 ? resultsBySeed.flat() : merged(resultsBySeed, settings.seeds);
}

/** Merges equal successes into one line with their count and range. Keeps every failure. */
function merged(resultsBySeed: readonly (readonly OracleResult[])[], seeds: number): OracleResult[] {
  const good = new Map<string, OracleResult[]>();
  const bad = resultsBySeed.flat().filter(({ ok }) => !ok);
  for (const result of resultsBySeed.flat())
    if (result.ok) good.set(result.what, [...(good.get(result.what) ?? []), result]);
  const lines = [...good.values()].flatMap((results): OracleResult[] => {
    const [first] = results;
    if (!first) return [];
    const values = [...new Set(results.map(({ value }) => String(value)))];
    return [{ ...first, value: `${summed(values)} (${results.length} of ${seeds} seeds)` }];
  });
  return [...bad, ...lines];
}

/** One value, or the least and the greatest of them. */
function summed(values: readonly string[]): string {
  const byNumber = [...values].sort((one, other) => Number.parseFloat(one) - Number.parseFloat(other));
  const [least, greatest] = [byNumber[0] ?? "", byNumber.at(-1) ?? ""];
  return least === greatest ? least : `${least} to ${greatest}`;
}
