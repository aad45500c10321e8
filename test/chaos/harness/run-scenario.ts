import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { seededRandom } from "../../harness/seeded-random.ts";
import type { OracleResult } from "./oracle-result.ts";
import type { Scenario, Settings } from "./scenario.ts";
import { within } from "./scope.ts";

export interface RunScenarioOptions {
  settings: Settings;
  /** Whether the folder stays, with every log. */
  keep?: boolean;
}

export interface ScenarioReport {
  results: OracleResult[];
  /** Where it all is, if it was kept. */
  folder: string | null;
  tookMs: number;
}

/** Plays one scenario in a folder of its own, and takes down all that it has put up. */
export async function runScenario(
  scenario: Scenario,
  { settings, keep = false }: RunScenarioOptions,
): Promise<ScenarioReport> {
  const folder = await mkdtemp(path.join(tmpdir(), `troupe-chaos-${scenario.name}-`));
  const startedMs = performance.now();
  let keepsFolder = false;
  try {
    const random = seededRandom(settings.seed);
    const results = await within((scope) => scenario.run({ settings, scope, folder, random }));
    keepsFolder = keep;
    return { results, folder: keepsFolder ? folder : null, tookMs: performance.now() - startedMs };
  } catch (error) {
    keepsFolder = keep;
    if (keep) console.error(`its files are in ${folder}`);
    throw error;
  } finally {
    if (!keepsFolder) await rm(folder, { recursive: true, force: true });
  }
}
