import { openChecks } from "./child-checks.ts";
import { openContext } from "./context.ts";
import { executeState } from "./execute-state.ts";
import { onCancel, onDeadline, onDenial, onRejection, onVerification } from "./outcomes.ts";
import { graceTimer, responseOf } from "./setup/ending.ts";
import { assessOutputTokens, reservedOutput } from "./setup/model.ts";
import { agentSetup } from "./setup.ts";

/** How long an ending run waits for its children's responses. */
const graceMs = 5_000;

/**
 * The state machine of every agent, main or sub: intent → execute (think → act → check) → respond → settled.
 *
 * Invariants:
 * - It receives its journal's entries in order, and hints, which change no outcome.
 * - Entering a state starts its effects and leaving it stops them. The outcome of every effect is an entry.
 * - Late facts, about effects that no longer run, change nothing.
 * - Every run ends through `respond`, and `settled` is final.
 * - Running work is reserved from the budget until its outcome says the real usage.
 *
 * @example
 * const callModel = fromCallback(({ input }) => askSomeModel(input)); // its outcome arrives as a journal entry
 * const actor = createActor(agentMachine.provide({ actors: { callModel, startTimer, settle } }), {
 *   input: { request, pin, openedAt: 0 },
 * });
 * actor.start(); // in execute.think: callModel starts with { step: 1, messages, … }
 * actor.send({ type: "model.replied", step: 1, reply, durationMs: 5, at: 10 });
 * actor.getSnapshot().context.response?.status; // "completed": settle starts, run.settled is expected next
 */
export const agentMachine = agentSetup.createMachine({
  id: "agent",
  context: ({ input }) => openContext(input),
  initial: "intent",
  entry: "startDeadline",
  on: {
    "run.claimed": { actions: ["skipUnheldTime", "recordTime", "startDeadline"] },
    "run.parked": { actions: ["recordTime", "releaseCallReserve"] },
    "inbox.received": [
      { guard: "isSteer", actions: ["recordTime", "queueSteerMessage"] },
      { guard: "isPause", actions: ["recordTime", "pause", "syncClock"] },
      { guard: "isResume", actions: ["recordTime", "resume", "syncClock", "startTools", "retryTasks", "grantSlots"] },
      { guard: "isCallAnswer", actions: ["recordTime", "applyCallAnswer", "syncClock", "startTools"] },
    ],
    "child.claimed": { guard: "isForOpenTask", actions: "forwardToBatch" },
    "child.waiting": { guard: "isForOpenTask", actions: ["recordTime", "recordChildWaiting", "syncClock"] },
    "child.settled": {
      guard: "isAwaitedChild",
      actions: ["recordTime", "countAttempt", "syncClock", "forwardToBatch"],
    },
    "timer.fired": { guard: "isForOpenTask", actions: ["recordTime", "retryTasks"] },
    "batch.ready": { actions: ["queueReadyTasks", "grantSlots"] },
    "batch.item": { actions: ["storeTaskResult", "grantSlots"] },
    "batch.declined": { actions: ["releaseSlot", "grantSlots"] },
    "xstate.done.actor.*": { actions: "closeBatch" },
    /** Another host may settle the run, for example as a poison run. The journal decides. */
    "run.settled": { target: ".settled", actions: "storeSettlement" },
  },
  states: {
    intent: {
      description: "Assesses the request before any tool runs.",
      initial: "receiving",
      on: {
        "inbox.received": {
          guard: "isCancel",
          target: "respond",
          actions: ["recordTime", "bookLostCall", { type: "setOutcome", params: onCancel }],
        },
        "timer.fired": {
          guard: "isDeadline",
          target: "respond",
          actions: ["recordTime", "bookLostCall", { type: "setOutcome", params: onDeadline }],
        },
      },
      states: {
        receiving: {
          always: [
            { guard: "isRejected", target: "#agent.respond", actions: { type: "setOutcome", params: onRejection } },
            { guard: "isDirect", target: "assessed" },
            { guard: "isNotPaused", target: "assessing" },
          ],
        },
        assessing: {
          entry: "reserveForAssessment",
          invoke: {
            src: "assessIntent",
            input: ({ context }) => ({
              kind: "assessIntent" as const,
              run: context.request.run,
              maxOutputTokens: reservedOutput(context, assessOutputTokens),
            }),
          },
          on: {
            "intent.assessed": { target: "assessed", actions: ["recordTime", "storeIntent"] },
            "run.claimed": {
              target: "receiving",
              actions: ["skipUnheldTime", "recordTime", "startDeadline", "chargeLostCall"],
            },
          },
        },
        assessed: {
          always: [{ guard: "isRisky", target: "#agent.awaitingApproval" }, { target: "#agent.execute" }],
        },
      },
    },
    awaitingApproval: {
      description: "Waits for a person's decision. Silence is not consent.",
      initial: "asking",
      on: {
        // Not as exit actions: those run first, but the clock has to start at the time of the answer.
        "inbox.received": [
          { guard: "isApproved", target: "execute", actions: ["recordTime", "clearApproval", "syncClock"] },
          {
            guard: "isDenied",
            target: "respond",
            actions: ["recordTime", "clearApproval", "syncClock", { type: "setOutcome", params: onDenial }],
          },
          {
            guard: "isCancel",
            target: "respond",
            actions: ["recordTime", "clearApproval", "syncClock", { type: "setOutcome", params: onCancel }],
          },
        ],
        "timer.fired": {
          guard: "isDeadline",
          target: "respond",
          actions: ["recordTime", { type: "setOutcome", params: onDeadline }],
        },
      },
      states: {
        asking: {
          invoke: {
            src: "askApproval",
            input: ({ context }) => ({
              kind: "askApproval" as const,
              run: context.request.run,
              reason: "what it is asked to do was found to be of high risk",
            }),
          },
          on: {
            "approval.requested": { target: "waiting", actions: ["recordTime", "awaitApproval", "syncClock"] },
          },
        },
        waiting: { description: "Starts nothing; the clock is stopped." },
      },
    },
    execute: executeState,
    stopping: {
      description: "Stops tools and children, and waits a moment for the children's responses.",
      initial: "telling",
      entry: ["openBatches", "stopTools", "stopBatches"],
      states: {
        telling: { always: [{ guard: "hasNoBatches", target: "#agent.respond" }, { target: "waiting" }] },
        waiting: {
          invoke: {
            src: "startTimer",
            input: ({ context }) => ({
              kind: "startTimer" as const,
              run: context.request.run,
              timer: graceTimer,
              delayMs: graceMs,
              since: context.lastAt,
            }),
          },
          always: { guard: "hasNoBatches", target: "#agent.respond" },
          on: {
            "timer.fired": {
              guard: "isGraceOver",
              target: "#agent.respond",
              actions: ["recordTime", "abandonBatches"],
            },
          },
        },
      },
    },
    respond: {
      description: "Composes the response, verifies it, and settles the run.",
      initial: "composing",
      states: {
        composing: {
          entry: "composeResponse",
          always: [{ guard: "hasVerifiers", target: "verifying" }, { target: "settling" }],
        },
        verifying: {
          entry: "beginVerification",
          invoke: {
            src: "verify",
            input: ({ context }) => ({
              kind: "verify" as const,
              run: context.request.run,
              round: context.verifyRound,
              verifiers: context.pin.definition.verifiers,
              response: responseOf(context),
              ...(openChecks(context).length > 0 ? { childChecks: openChecks(context) } : {}),
            }),
          },
          on: {
            "verify.finished": [
              { guard: "isVerified", target: "settling", actions: ["recordTime", "composeResponse"] },
              { guard: "canTryAgain", target: "#agent.execute", actions: ["recordTime", "appendVerificationFailures"] },
              {
                guard: "isCurrentRound",
                target: "settling",
                actions: ["recordTime", { type: "setOutcome", params: onVerification }, "composeResponse"],
              },
            ],
            "inbox.received": {
              guard: "isCancel",
              target: "settling",
              actions: ["recordTime", { type: "setOutcome", params: onCancel }, "composeResponse"],
            },
            "timer.fired": {
              guard: "isDeadline",
              target: "settling",
              actions: ["recordTime", { type: "setOutcome", params: onDeadline }, "composeResponse"],
            },
          },
        },
        settling: {
          invoke: {
            src: "settle",
            input: ({ context }) => ({
              kind: "settle" as const,
              run: context.request.run,
              response: responseOf(context),
            }),
          },
          on: { "run.settled": { target: "#agent.settled", actions: "storeSettlement" } },
        },
      },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => responseOf(context),
});
