import { type Action, actionsOf } from "./actions.test-helper.ts";
import type { SimulatedAgents } from "./agents.test-helper.ts";
import { checkFinalInvariants, checkInvariants } from "./invariants.test-helper.ts";
import type { Scenario } from "./scenario.test-helper.ts";
import { Session } from "./session.test-helper.ts";

/** A schedule that takes longer will never end. */
const actionsMax = 4_000;

/**
 * Plays a schedule over a tree of real agent machines to its end, with an eye on the laws: at every moment any of the
 * things that could happen next does. Throws with the whole story where a law is broken.
 *
 * @param law another one that has to hold at the end
 *
 * @example
 * play({ seed: 1, actions: 50, budget: unlimited, mayStream: true, faults: calm }).root.response?.status; // "completed"
 */
export function simulate(
  scenario: Scenario,
  { registry, law }: { registry?: SimulatedAgents; law?: (session: Session) => void } = {},
): Session {
  const session = new Session(scenario, registry);
  try {
    for (let move = 0; !session.isOver; move += 1) {
      if (move > actionsMax) throw new Error("it does not end");
      if (move === scenario.actions) session.endFaults();
      session.tick();
      pick(session).act();
      checkInvariants(session);
    }
    checkFinalInvariants(session);
    law?.(session);
    return session;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n\n${session.story()}`, { cause: error });
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
