import { failpoints } from "../../harness/failpoints.ts";
import type { OracleResult } from "./oracle-result.ts";
import type { Scope } from "./scope.ts";

/** How much is done. Each scenario has its own defaults, long and short. */
export interface Settings {
  /** The same seed, the same kills, in the same order. */
  seed: number;
  leaseMs: number;
  /** Sessions that are played. */
  runs: number;
  /** How long the fault lasts, or faults go on. */
  minutes: number;
  daemons: number;
  workers: number;
  /** How many of the named moments, for scenarios that kill a process at each. */
  moments: number;
  /** How many seeds in a row, for scenarios that play one moment after the other. */
  seeds: number;
  /** Three nats-servers that are one cluster, instead of one. */
  cluster: boolean;
  /** Daemons and workers of scenarios that kill none of them are in this process, where a start costs little. */
  inProcess: boolean;
  /** Factor on every time limit. With several scenarios at once, a measured time means nothing. */
  slack: number;
}

/** A fault, the way to cause it, and the checks afterwards. */
export interface Scenario {
  name: string;
  /** One line for the list. */
  what: string;
  /** As its row of the catalogue asks for it. */
  long: Partial<Settings>;
  /** As it is part of the test command: the same, smaller. */
  short: Partial<Settings>;
  /** Passed over where this user may make neither network namespaces nor disks. */
  needsRoot?: boolean;
  /** Knows how to be played with three servers. */
  supportsCluster?: boolean;
  run(stage: ScenarioContext): Promise<OracleResult[]>;
}

export interface ScenarioContext {
  settings: Settings;
  scope: Scope;
  /** Empty, and gone afterwards. */
  folder: string;
  /** Numbers of the seed. */
  random: () => number;
}

const defaults: Settings = {
  seed: 1,
  leaseMs: 8_000,
  runs: 10,
  minutes: 1,
  daemons: 1,
  workers: 2,
  moments: failpoints.length,
  seeds: 1,
  cluster: false,
  inProcess: false,
  slack: 1,
};
const shortDefaults: Settings = { ...defaults, leaseMs: 2_000, slack: 10 };

export function settingsOf(scenario: Scenario, form: "long" | "short", overrides: Partial<Settings> = {}): Settings {
  const own = form === "long" ? { ...defaults, ...scenario.long } : { ...shortDefaults, ...scenario.short };
  return { ...own, ...overrides };
}
