import { mkdir } from "node:fs/promises";
import path from "node:path";
import { seededRandom } from "../../harness/seeded-random.ts";
import type { Stage } from "./scenario.ts";
import { within } from "./scope.ts";
import type { Verdict } from "./verdict.ts";

/** Plays the same for one seed after the other. What went wrong is told with its seed, what went well in one line. */
export async function eachSeed(stage: Stage, playOnce: (stage: Stage) => Promise<Verdict[]>): Promise<Verdict[]> {
  const { settings } = stage;
  const played: Verdict[][] = [];
  for (let seed = settings.seed; seed < settings.seed + settings.seeds; seed += 1) {
    const folder = path.join(stage.folder, `seed-${seed}`);
    await mkdir(folder, { recursive: true });
    const one = { settings: { ...settings, seed }, folder, random: seededRandom(seed) };
    const verdicts = await within((scope) => playOnce({ ...one, scope }));
    played.push(
      verdicts.map((verdict) => (verdict.ok ? verdict : { ...verdict, what: `${verdict.what} (seed ${seed})` })),
    );
  }
  return settings.seeds === 1 ? played.flat() : merged(played, settings.seeds);
}

/** Of what was as it should be: how often, and what was measured. All of what was not. */
function merged(played: readonly (readonly Verdict[])[], seeds: number): Verdict[] {
  const good = new Map<string, Verdict[]>();
  const bad = played.flat().filter(({ ok }) => !ok);
  for (const verdict of played.flat())
    if (verdict.ok) good.set(verdict.what, [...(good.get(verdict.what) ?? []), verdict]);
  const lines = [...good.values()].flatMap((verdicts): Verdict[] => {
    const [first] = verdicts;
    if (!first) return [];
    const values = [...new Set(verdicts.map(({ value }) => String(value)))];
    return [{ ...first, value: `${summed(values)} (${verdicts.length} of ${seeds} seeds)` }];
  });
  return [...bad, ...lines];
}

/** One value, or the least and the greatest of them. */
function summed(values: readonly string[]): string {
  const byNumber = [...values].sort((one, other) => Number.parseFloat(one) - Number.parseFloat(other));
  const [least, greatest] = [byNumber[0] ?? "", byNumber.at(-1) ?? ""];
  return least === greatest ? least : `${least} to ${greatest}`;
}
