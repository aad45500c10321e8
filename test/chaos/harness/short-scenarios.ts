import { describe, it } from "vitest";
import { findNatsServer, natsServerMissing } from "../../harness/nats-server.ts";
import { canMakeNamespaces } from "./namespaces.ts";
import { runScenario } from "./run-scenario.ts";
import { type Scenario, settingsOf } from "./scenario.ts";

const hasServer = findNatsServer() !== null;
const isRoot = await canMakeNamespaces();
/** Most take ten seconds; machines that do something else meanwhile take longer. */
const limitMs = 300_000;

/**
 * Scenarios whose law another test checks with a real server, and the file of that test, or of the scenario that has the
 * same fault with others. Their short forms are in the long run.
 */
const checkedElsewhere: Readonly<Record<string, string>> = {
  k1: "test/chaos/scenarios/deaths.ts",
  k2: "test/chaos/scenarios/deaths.ts",
  k3: "test/chaos/scenarios/deaths.ts",
  k4: "test/chaos/scenarios/deaths.ts",
  k5: "test/chaos/scenarios/deaths.ts",
  k6: "test/nats/takeover.test.ts",
  d5: "test/nats/takeover.test.ts",
  "n3-mute": "test/nats/takeover.test.ts",
  n6: "test/nats/recorder.test.ts",
  rolling: "test/nats/worker.test.ts",
  n3: "test/nats/takeover.test.ts",
  n7: "test/nats/replayed.test.ts",
  n1: "test/chaos/scenarios/links.ts",
  n4: "test/chaos/scenarios/links.ts",
  "n4-deaf": "test/chaos/scenarios/links.ts",
  n5: "test/chaos/scenarios/links.ts",
};

/** True for a scenario whose law has no other test in the normal run. */
export function isCheckedOnlyHere({ name }: Scenario): boolean {
  return checkedElsewhere[name] === undefined;
}

/**
 * Each scenario as a test, in seconds instead of minutes; `node test/chaos/main.ts NAME` plays it whole. They are played
 * at once, for most of each is waiting for a lease to run out.
 */
export function testShortScenarios(what: string, scenarios: readonly Scenario[]): void {
  describe.skipIf(!hasServer).concurrent(hasServer ? what : natsServerMissing, () => {
    it.for(scenarios)("$name: $what", { timeout: limitMs }, async (scenario, { expect, skip }) => {
      skip(scenario.needsRoot === true && !isRoot, "only root can make network namespaces");
      const { results } = await runScenario(scenario, { settings: settingsOf(scenario, "short") });
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
      expect(results.length).toBeGreaterThan(1);
    });
  });
}
