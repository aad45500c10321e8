import { findNatsServer } from "../../harness/nats-server.ts";
import type { Figure } from "../figure.ts";

type Measure = <T>(times: number, script: string, ...args: string[]) => Promise<T[]>;

interface DelegationCost {
  roundTripMs: number;
  delegationMs: number;
  delegationP99Ms: number;
  fromReplyMs: number;
  ratio: number;
}

/**
 * Cost of a delegation between two processes, and takeover time after a worker's death. Returns none without a NATS
 * server.
 */
export async function natsFigures(measure: Measure, iterations: number): Promise<Figure[]> {
  if (findNatsServer() === null) return [];
  const figures: Figure[] = [];
  const row = (what: string, values: number[], unit: string, aim?: number): void => {
    figures.push({ what, values, unit, ...(aim === undefined ? {} : { aim }) });
  };
  for (const { sync, aim } of [
    { sync: "default", aim: 6 },
    { sync: "always", aim: 12 },
  ]) {
    const costs = await measure<DelegationCost>(iterations, "nats/delegation-cost.ts", sync);
    const of = (key: keyof DelegationCost): number[] => costs.map((cost) => cost[key]);
    row(`a delegation between two processes (sync ${sync}), p50 over the round trip`, of("ratio"), "×", aim);
    row("  p50, from its offer to its parent's next model call", of("delegationMs"), "ms");
    row("  p99", of("delegationP99Ms"), "ms");
    row("  p50, from the model's reply that asks for it", of("fromReplyMs"), "ms");
    row("  floor: a request and its reply, 1 KB, p50", of("roundTripMs"), "ms");
  }
  for (const workers of [1, 2, 4]) {
    const rates = await measure<{ perSecond: number }>(iterations, "nats/rate.ts", String(workers));
    row(
      `delegations a second to ${workers} worker${workers === 1 ? "" : "s"}`,
      rates.map((rate) => rate.perSecond),
      "/s",
    );
  }
  for (const leaseMs of [2_000, 8_000]) {
    const takeovers = await measure<{ leases: number }>(iterations, "nats/takeover.ts", String(leaseMs));
    row(
      `takeover after a worker's SIGKILL, lease ${leaseMs / 1_000} s`,
      takeovers.map(({ leases }) => leases),
      "leases",
      1.5,
    );
  }
  const spreads = await measure<{ ratio: number; idlePercentMax: number }>(iterations, "nats/spread.ts");
  row(
    "320 tasks of one of 50 agents, 8 workers of 4 slots, 200 ms: wall over ideal",
    spreads.map(({ ratio }) => ratio),
    "×",
    1.15,
  );
  row(
    "  CPU of the busiest of these workers when idle",
    spreads.map(({ idlePercentMax }) => idlePercentMax),
    "%",
    1,
  );
  return figures;
}
