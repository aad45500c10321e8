import { isWaitingForPeople } from "../agent/clock.ts";
import { type Effect, type EffectOf, effectKey } from "../effects.ts";
import type { SimulatedRun } from "./run.test-helper.ts";
import type { Session } from "./session.test-helper.ts";

export interface Action {
  weight: number;
  act: () => void;
}

/** All possible next actions and their weights. */
export function actionsOf(session: Session): Action[] {
  const actions: Action[] = session.queue.map((request, place) => ({
    weight: 8,
    act: () => {
      session.queue.splice(place, 1);
      session.open(request);
    },
  }));
  for (const run of session.runs) actions.push(...actionsOfRun(session, run));
  if (session.questions.length > 0) actions.push({ weight: 4, act: () => session.answer() });
  if (!session.faults.none) actions.push(...faultActions(session));
  // The grace period ends only if no other action is possible.
  if (actions.length === 0) for (const run of session.runs) actions.push(...graceActions(session, run));
  return actions;
}

function actionsOfRun(session: Session, run: SimulatedRun): Action[] {
  if (run.state === "settled") return [];
  const isCalled = session.inbox.hasItemsFor(run);
  if (run.state === "parked" && !isCalled) return [];
  if (run.state !== "alive") return [{ weight: 6, act: () => session.claim(run) }];
  const actions = [...run.wanted.values()].flatMap((effect) => actionsOfEffect(session, run, effect));
  if (isCalled) actions.push({ weight: 6, act: () => session.receiveInbox(run) });
  if (run.wanted.size === 0) actions.push({ weight: 4, act: () => session.park(run) });
  return actions;
}

function actionsOfEffect(session: Session, run: SimulatedRun, effect: Effect): Action[] {
  const { timeouts } = session.faults;
  switch (effect.kind) {
    case "runChild":
      return childActions(session, run, effect);
    case "cancelChild":
      if (session.toldToStop.has(effect.request.run)) return [];
      return [{ weight: 6, act: () => session.cancelChild(effect) }];
    case "startTimer": {
      const weight = effect.timer === "deadline" ? 0.05 : effect.timer === "grace" ? 2 : 4;
      const isHurried = effect.timer === "deadline" || effect.timer === "grace";
      if (isHurried && !timeouts) return [];
      return [{ weight, act: () => session.finish(run, effect) }];
    }
    case "compact":
      // Slow, so that a crash can interrupt it.
      return [{ weight: 1, act: () => session.finish(run, effect) }];
    default:
      return [{ weight: effect.kind === "callModel" ? 8 : 10, act: () => session.finish(run, effect) }];
  }
}

function graceActions(session: Session, run: SimulatedRun): Action[] {
  const grace = run.wanted.get("timer/grace");
  return run.state === "alive" && grace ? [{ weight: 1, act: () => session.finish(run, grace) }] : [];
}

function childActions(session: Session, run: SimulatedRun, effect: EffectOf<"runChild">): Action[] {
  const { step, call, item, request } = effect;
  const child = session.known.get(request.run);
  if (!child) {
    if (!session.faults.failures) return [];
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

function faultActions(session: Session): Action[] {
  const { crashes, cancels, people, timeouts } = session.faults;
  const actions: Action[] = [];
  const { random } = session;
  const alive = session.runs.filter(({ state }) => state === "alive");
  const any = (): SimulatedRun => random.of(session.runs);
  if (crashes && alive.length > 0) {
    actions.push({ weight: 0.6, act: () => session.crash(random.of(alive)) });
    actions.push({ weight: 0.2, act: () => alive.forEach((run) => void session.crash(run)) });
    actions.push({ weight: 0.2, act: () => session.drain(random.of(alive)) });
    actions.push({ weight: 0.05, act: () => session.abandon(random.of(alive)) });
  }
  if (cancels) {
    actions.push({ weight: 0.05, act: () => session.command({ kind: "session.cancelled", reason: "enough" }) });
    actions.push({
      weight: 0.2,
      act: () => session.command({ kind: "run.cancelled", run: any().request.run, reason: "no" }),
    });
  }
  if (people) {
    actions.push({ weight: 0.2, act: () => session.pause(any()) });
    actions.push({
      weight: 0.2,
      act: () =>
        session.command({
          kind: "run.steered",
          run: any().request.run,
          text: "by the way ".repeat(random.below(60) + 1),
          by: "ada",
        }),
    });
  }
  for (const run of session.paused) actions.push({ weight: 1, act: () => session.resume(run) });
  if (timeouts) actions.push({ weight: 0.1, act: () => session.pass(20_000) });
  for (const late of session.late) actions.push({ weight: 2, act: () => session.feedLate(late) });
  return actions;
}
