import { isWaitingForPeople } from "../agent/clock.ts";
import { type Effect, type EffectOf, effectKey } from "../effects.ts";
import type { SimulatedRun } from "./run.test-helper.ts";
import type { Session } from "./session.test-helper.ts";

export interface Move {
  weight: number;
  act: () => void;
}

/** Everything that could happen next, and how likely it is. */
export function movesOf(session: Session): Move[] {
  const moves: Move[] = session.queue.map((request, place) => ({
    weight: 8,
    act: () => {
      session.queue.splice(place, 1);
      session.open(request);
    },
  }));
  for (const run of session.runs) moves.push(...movesOfRun(session, run));
  if (session.questions.length > 0) moves.push({ weight: 4, act: () => session.answer() });
  if (!session.troubles.none) moves.push(...troubleMoves(session));
  // Only where nothing else is left does a run give its children up.
  if (moves.length === 0) for (const run of session.runs) moves.push(...graceMoves(session, run));
  return moves;
}

function movesOfRun(session: Session, run: SimulatedRun): Move[] {
  if (run.state === "settled") return [];
  const isCalled = session.inbox.hasNewsFor(run);
  if (run.state === "parked" && !isCalled) return [];
  if (run.state !== "alive") return [{ weight: 6, act: () => session.claim(run) }];
  const moves = [...run.wanted.values()].flatMap((effect) => movesOfEffect(session, run, effect));
  if (isCalled) moves.push({ weight: 6, act: () => session.hear(run) });
  if (run.wanted.size === 0) moves.push({ weight: 4, act: () => session.park(run) });
  return moves;
}

function movesOfEffect(session: Session, run: SimulatedRun, effect: Effect): Move[] {
  const { timeouts } = session.troubles;
  switch (effect.kind) {
    case "runChild":
      return childMoves(session, run, effect);
    case "cancelChild":
      if (session.told.has(effect.request.run)) return [];
      return [{ weight: 6, act: () => session.tellToStop(effect) }];
    case "startTimer": {
      const weight = effect.timer === "deadline" ? 0.05 : effect.timer === "grace" ? 2 : 4;
      const isHurried = effect.timer === "deadline" || effect.timer === "grace";
      if (isHurried && !timeouts) return [];
      return [{ weight, act: () => session.finish(run, effect) }];
    }
    case "compact":
      // It takes its time: there is something to lose.
      return [{ weight: 1, act: () => session.finish(run, effect) }];
    default:
      return [{ weight: effect.kind === "callModel" ? 8 : 10, act: () => session.finish(run, effect) }];
  }
}

function graceMoves(session: Session, run: SimulatedRun): Move[] {
  const grace = run.wanted.get("timer/grace");
  return run.state === "alive" && grace ? [{ weight: 1, act: () => session.finish(run, grace) }] : [];
}

function childMoves(session: Session, run: SimulatedRun, effect: EffectOf<"runChild">): Move[] {
  const { step, call, item, request } = effect;
  const child = session.known.get(request.run);
  if (!child) {
    if (!session.troubles.failures) return [];
    return [{ weight: 0.3, act: () => session.refuseToAsk(run, effect) }];
  }
  const { response } = child;
  if (response) {
    const body = { kind: "child.settled" as const, step, call, item, attempt: request.attempt, response };
    return [{ weight: 10, act: () => session.feed(run, body, `${effectKey(effect)}: ${response.status}`) }];
  }
  const waiting = child.state === "parked" || (child.state === "alive" && isWaitingForPeople(child.context));
  if (waiting === (session.watched.get(effect) ?? false)) return [];
  const body = { kind: "child.waiting" as const, step, call, item, attempt: request.attempt, waiting };
  return [
    {
      weight: 3,
      act: () => {
        session.watched.set(effect, waiting);
        session.feed(run, body, `${effectKey(effect)} ${waiting ? "waits" : "goes on"}`);
      },
    },
  ];
}

function troubleMoves(session: Session): Move[] {
  const { crashes, cancels, people, timeouts } = session.troubles;
  const moves: Move[] = [];
  const { dice } = session;
  const alive = session.runs.filter(({ state }) => state === "alive");
  const any = (): SimulatedRun => dice.of(session.runs);
  if (crashes && alive.length > 0) {
    moves.push({ weight: 0.6, act: () => session.crash(dice.of(alive)) });
    moves.push({ weight: 0.2, act: () => alive.forEach((run) => void session.crash(run)) });
    moves.push({ weight: 0.2, act: () => session.drain(dice.of(alive)) });
    moves.push({ weight: 0.05, act: () => session.giveUp(dice.of(alive)) });
  }
  if (cancels) {
    moves.push({ weight: 0.05, act: () => session.command({ kind: "session.cancelled", reason: "enough" }) });
    moves.push({
      weight: 0.2,
      act: () => session.command({ kind: "run.cancelled", run: any().request.run, reason: "no" }),
    });
  }
  if (people) {
    moves.push({ weight: 0.2, act: () => session.pause(any()) });
    moves.push({
      weight: 0.2,
      act: () =>
        session.command({
          kind: "run.steered",
          run: any().request.run,
          text: "by the way ".repeat(dice.below(60) + 1),
          by: "ada",
        }),
    });
  }
  for (const run of session.paused) moves.push({ weight: 1, act: () => session.resume(run) });
  if (timeouts) moves.push({ weight: 0.1, act: () => session.pass(20_000) });
  for (const late of session.late) moves.push({ weight: 2, act: () => session.feedLate(late) });
  return moves;
}
