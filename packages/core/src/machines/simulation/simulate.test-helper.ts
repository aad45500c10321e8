import { type Action, actionsOf } from "./actions.test-helper.ts";
import type { SimulatedAgents } from "./agents.test-helper.ts";
import { checkFinalInvariants, checkInvariants } from "./invariants.test-helper.ts";
import type { Scenario } from "./scenario.test-helper.ts";
import { Session } from "./session.test-helper.ts";

/** A longer schedule counts as endless. */
const actionsMax = 4_000;

/**
 * Runs a random schedule over a tree of real agent machines and checks the invariants after every action. Throws with the
 * log of the schedule if one is violated.
 *
 * @param law a further check at the end
 *
 * @example
 * simulate({ seed: 1, actions: 50, budget: unlimited, mayStream: true, faults: noFaults }).root.response?.status; // "completed"
 */
export function simulate(
  scenario: Scenario,
  { registry, law }: { registry?: SimulatedAgents; law?: (session: Session) => void } = {},
): Session {
  const session = new Session(scenario, registry);
  try {
    for (let move = 0; !session.isOver; move += 1) {
      if (move > actionsMax) throw new Error("the schedule does not end");
      if (move === scenario.actions) session.endFaults();
      session.tick();
      pick(session).act();
      checkInvariants(session);
    }
    checkFinalInvariants(session);
    law?.(session);
    return session;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n\n${session.describeSession()}`, {
      cause: error,
    });
  }
}

function pick(session: Session): Action {
  const actions = actionsOf(session);
  let rest = (session.random.below(1_000_000) / 1_000_000) * actions.reduce((sum, { weight }) => sum + weight, 0);
  for (const move of actions) {
    rest -= move.weight;
    if (rest < 0) return move;
  }
  const states = session.runs.map(({ name, state }) => `${name} ${state}`).join(", ");
  throw new Error(`nothing can happen any more, and not all has settled: ${states}`);
}
