import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { seededRandom } from "../../harness/seeded-random.ts";
import type { Scenario, Settings } from "./scenario.ts";
import { within } from "./scope.ts";
import type { Verdict } from "./verdict.ts";

export interface PlayWish {
  settings: Settings;
  /** Whether the folder stays, with every log. */
  keep?: boolean;
}

export interface Played {
  verdicts: Verdict[];
  /** Where it all is, if it was kept. */
  folder: string | null;
  tookMs: number;
}

/** Plays one scenario in a folder of its own, and takes down all that it has put up. */
export async function play(scenario: Scenario, { settings, keep = false }: PlayWish): Promise<Played> {
  const folder = await mkdtemp(path.join(tmpdir(), `troupe-chaos-${scenario.name}-`));
  const startedMs = performance.now();
  let isKept = false;
  try {
    const random = seededRandom(settings.seed);
    const verdicts = await within((scope) => scenario.play({ settings, scope, folder, random }));
    isKept = keep;
    return { verdicts, folder: isKept ? folder : null, tookMs: performance.now() - startedMs };
  } catch (error) {
    isKept = keep;
    if (keep) console.error(`what it did is in ${folder}`);
    throw error;
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true });
  }
}
