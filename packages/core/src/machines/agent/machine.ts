import { planOf } from "./calls.ts";
import { compactionTokens, planCompaction, planTrim } from "./compaction.ts";
import { type AgentContext, openContext } from "./context.ts";
import {
  onCancel,
  onCap,
  onDeadline,
  onDenial,
  onEmptyReply,
  onLastTurn,
  onLoop,
  onModelFailure,
  onRefusal,
  onRejection,
  onVerification,
} from "./outcomes.ts";
import { completedOutcome } from "./rules.ts";
import { agentSetup, assessOutputTokens, backoffTimer, responseOf, summaryOutputTokens } from "./setup.ts";
import { sideCallOutput } from "./turn.ts";

/** How long a run that has to end waits for its children's responses, before it ends without them. */
const graceMs = 5_000;

/**
 * Every agent, main and sub: intent → execute (think → act → check) → respond → settled.
 *
 * Invariants:
 * - It receives nothing but its journal's entries, in order (and hints, which change no outcome).
 * - Every effect's outcome is an entry; entering a state starts effects, leaving it stops them.
 * - Facts about what does not run any more change nothing.
 * - Every way out leads through `respond`, and `settled` is never left.
 * - Everything that is under way is set aside from the budget, until its outcome says what it really used.
 *
 * @example
 * const callModel = fromCallback(({ input }) => askSomeModel(input)); // it sends nothing: its outcome is journaled
 * const actor = createActor(agentMachine.provide({ actors: { callModel, startTimer, settle } }), {
 *   input: { request, pin, openedAt: 0 },
 * });
 * actor.start(); // in execute.think: callModel was started with { step: 1, messages, … }
 * actor.send({ type: "model.replied", step: 1, reply, durationMs: 5, at: 10 });
 * actor.getSnapshot().context.response?.status; // "completed": settle was started, run.settled is awaited
 */
export const agentMachine = agentSetup.createMachine({
  id: "agent",
  context: ({ input }) => openContext(input),
  initial: "intent",
  entry: "armDeadline",
  on: {
    "run.claimed": { actions: ["takeUp", "noteTime", "armDeadline"] },
    "run.parked": { actions: ["noteTime", "releaseUnbegun"] },
    "inbox.received": [
      { guard: "isSteer", actions: ["noteTime", "keepSteer"] },
      { guard: "isPause", actions: ["noteTime", "pause", "syncClock"] },
      { guard: "isResume", actions: ["noteTime", "resume", "syncClock", "startTools", "retryTasks", "grantSlots"] },
      { guard: "isAnswer", actions: ["noteTime", "applyAnswer", "syncClock", "startTools"] },
    ],
    "child.claimed": { guard: "isOfOpenTask", actions: "passToBatch" },
    "child.waiting": { guard: "isOfOpenTask", actions: ["noteTime", "noteChildWaiting", "syncClock"] },
    "child.settled": { guard: "isAwaitedChild", actions: ["noteTime", "countAttempt", "syncClock", "passToBatch"] },
    "timer.fired": { guard: "isOfOpenTask", actions: ["noteTime", "retryTasks"] },
    "batch.ready": { actions: ["keepReady", "grantSlots"] },
    "batch.item": { actions: ["keepItem", "grantSlots"] },
    "batch.declined": { actions: ["takeBack", "grantSlots"] },
    "xstate.done.actor.*": { actions: "closeBatch" },
    /** The journal is the truth: whoever settled the run (a host that found it poisoned). */
    "run.settled": { target: ".settled", actions: "keepSettlement" },
  },
  states: {
    intent: {
      description: "Understands the request before any tool is touched.",
      initial: "receiving",
      on: {
        "inbox.received": {
          guard: "isCancel",
          target: "respond",
          actions: ["noteTime", { type: "decide", params: onCancel }],
        },
        "timer.fired": {
          guard: "isDeadline",
          target: "respond",
          actions: ["noteTime", { type: "decide", params: onDeadline }],
        },
      },
      states: {
        receiving: {
          always: [
            { guard: "isRejected", target: "#agent.respond", actions: { type: "decide", params: onRejection } },
            { guard: "isDirect", target: "assessed" },
            { guard: "isNotPaused", target: "assessing" },
          ],
        },
        assessing: {
          entry: "setAsideForAssessing",
          invoke: {
            src: "assessIntent",
            input: ({ context }) => ({
              kind: "assessIntent" as const,
              run: context.request.run,
              maxOutputTokens: outputSetAside(context, assessOutputTokens),
            }),
          },
          on: {
            "intent.assessed": { target: "assessed", actions: ["noteTime", "keepIntent"] },
            "run.claimed": {
              target: "receiving",
              actions: ["takeUp", "noteTime", "armDeadline", "chargeLost"],
            },
          },
        },
        assessed: {
          always: [{ guard: "isRisky", target: "#agent.awaitingApproval" }, { target: "#agent.execute" }],
        },
      },
    },
    awaitingApproval: {
      description: "A person decides; silence is never consent.",
      initial: "asking",
      on: {
        // Not as actions of leaving: those come first, and the clock starts at the time of the answer.
        "inbox.received": [
          { guard: "isApproved", target: "execute", actions: ["noteTime", "stopAwaiting", "syncClock"] },
          {
            guard: "isDenied",
            target: "respond",
            actions: ["noteTime", "stopAwaiting", "syncClock", { type: "decide", params: onDenial }],
          },
          {
            guard: "isCancel",
            target: "respond",
            actions: ["noteTime", "stopAwaiting", "syncClock", { type: "decide", params: onCancel }],
          },
        ],
        "timer.fired": {
          guard: "isDeadline",
          target: "respond",
          actions: ["noteTime", { type: "decide", params: onDeadline }],
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
            "approval.requested": { target: "waiting", actions: ["noteTime", "awaitAnswer", "syncClock"] },
          },
        },
        waiting: { description: "Nothing is started; time stands still." },
      },
    },
    execute: {
      description: "Works: think → act → check, until it has an answer or meets a cap.",
      initial: "gate",
      on: {
        "inbox.received": {
          guard: "isCancel",
          target: "stopping",
          actions: ["noteTime", { type: "decide", params: onCancel }],
        },
        "timer.fired": {
          guard: "isDeadline",
          target: "stopping",
          actions: ["noteTime", { type: "decide", params: onDeadline }],
        },
      },
      states: {
        gate: {
          description: "May another turn begin?",
          always: [
            { guard: "isPaused", target: "paused" },
            { guard: "mustTrim", target: "trimming" },
            { guard: "mustCompact", target: "compacting" },
            { guard: "mustHearAll", target: "listening" },
            { guard: "hasReachedCap", target: "#agent.stopping", actions: { type: "decide", params: onCap } },
            { target: "think", actions: "beginTurn" },
          ],
        },
        paused: {
          description: "A person has stopped it for a while: nothing new begins.",
          always: { guard: "isNotPaused", target: "gate" },
        },
        trimming: {
          description: "The conversation nears its limit: older results give way to references.",
          invoke: {
            src: "trim",
            input: ({ context }) => ({ kind: "trim" as const, run: context.request.run, ...planTrim(context) }),
          },
          on: { "context.trimmed": { guard: "isNextStep", target: "gate", actions: ["noteTime", "keepTrim"] } },
        },
        compacting: {
          description: "That was not enough: the history gives way to a summary.",
          entry: "setAsideForCompaction",
          invoke: {
            src: "compact",
            input: ({ context }) => ({
              kind: "compact" as const,
              run: context.request.run,
              ...planCompaction(context),
              maxOutputTokens: outputSetAside(context, compactionTokens(context)),
            }),
          },
          on: {
            "context.compacted": { guard: "isNextStep", target: "gate", actions: ["noteTime", "keepCompaction"] },
            "run.claimed": { target: "gate", actions: ["takeUp", "noteTime", "armDeadline", "chargeLost"] },
          },
        },
        think: {
          description: "The model is asked for its next words or tool calls.",
          invoke: {
            src: "callModel",
            input: ({ context }) => ({
              kind: "callModel" as const,
              run: context.request.run,
              step: context.step,
              messages: context.messages,
              lastTurn: context.turn?.last !== null,
              maxOutputTokens: context.turn?.maxOutputTokens ?? 1,
              triesBefore: context.modelTries,
            }),
          },
          on: {
            "run.claimed": {
              target: "gate",
              actions: ["takeUp", "noteTime", "armDeadline", "chargeLost", "repeatTurn"],
            },
            "model.replied": [
              {
                guard: "isRefusal",
                target: "#agent.stopping",
                actions: ["noteTime", "keepReply", { type: "decide", params: onRefusal }],
              },
              {
                guard: "isLoop",
                target: "#agent.stopping",
                actions: ["noteTime", "keepReply", { type: "decide", params: onLoop }],
              },
              { guard: "wantsTools", target: "act", actions: ["noteTime", "keepReply", "beginCalls"] },
              {
                guard: "wantsMoreThanAllowed",
                target: "#agent.stopping",
                actions: ["noteTime", "keepReply", { type: "decide", params: onLastTurn }],
              },
              { guard: "hasNews", target: "gate", actions: ["noteTime", "keepReply"] },
              { guard: "hasOpenTasks", target: "listening", actions: ["noteTime", "keepReply"] },
              {
                guard: "isEmptyLastTurn",
                target: "#agent.stopping",
                actions: ["noteTime", "keepReply", { type: "decide", params: onLastTurn }],
              },
              {
                guard: "isEmptyAgain",
                target: "#agent.stopping",
                actions: ["noteTime", "keepReply", { type: "decide", params: onEmptyReply }],
              },
              { guard: "isEmpty", target: "gate", actions: ["noteTime", "keepReply", "nudge"] },
              {
                guard: "isThisStep",
                target: "#agent.respond",
                actions: ["noteTime", "keepReply", { type: "decide", params: { verdict: completedOutcome } }],
              },
            ],
            "model.failed": [
              { guard: "isTurnedAway", target: "backingOff", actions: ["noteTime", "keepFailure", "backOff"] },
              { guard: "mayAskAgain", target: "backingOff", actions: ["noteTime", "keepFailure", "backOff"] },
              {
                guard: "isThisStep",
                target: "#agent.stopping",
                actions: ["noteTime", "keepFailure", { type: "decide", params: onModelFailure }],
              },
            ],
          },
        },
        backingOff: {
          description: "The provider asked to wait, or its answer was lost: the same turn is made again afterwards.",
          invoke: {
            src: "startTimer",
            input: ({ context }) => ({
              kind: "startTimer" as const,
              run: context.request.run,
              timer: backoffTimer(context),
              delayMs: context.backoff.delayMs,
              since: context.lastAt,
              ...(context.backoff.retry && { retry: context.backoff.retry }),
            }),
          },
          on: { "timer.fired": { guard: "isBackoffOver", target: "gate", actions: "noteTime" } },
        },
        act: {
          description: "Tools and children run side by side, up to their caps; each settles on its own.",
          initial: "deciding",
          states: {
            deciding: { always: [{ guard: "needsPlan", target: "planning" }, { target: "working" }] },
            planning: {
              description: "What becomes of the turn's calls is written down before any of them starts.",
              invoke: {
                src: "planCalls",
                input: ({ context }) => ({
                  kind: "planCalls" as const,
                  run: context.request.run,
                  ...(planOf(context) ?? { step: context.step, children: [], refused: [] }),
                }),
              },
              on: {
                "calls.planned": { target: "planned", actions: ["noteTime", "notePlan"] },
              },
            },
            planned: {
              description: "A pause holds back the summary that its children are to have.",
              always: [
                { guard: "mayOpenCalls", target: "working" },
                { guard: "isNotPaused", target: "summarising" },
              ],
            },
            summarising: {
              description: "The conversation is put in few words, once for all children that are to know of it.",
              entry: "setAsideForSummary",
              invoke: {
                src: "summarise",
                input: ({ context }) => ({
                  kind: "summarise" as const,
                  run: context.request.run,
                  step: context.step,
                  messages: context.messages,
                  maxOutputTokens: outputSetAside(context, summaryOutputTokens),
                }),
              },
              on: {
                "context.summarised": { guard: "isThisStep", target: "working", actions: ["noteTime", "keepSummary"] },
                "run.claimed": {
                  target: "planned",
                  actions: ["takeUp", "noteTime", "armDeadline", "chargeLost"],
                },
              },
            },
            working: {
              description: "Every call settles, whatever the others do.",
              entry: ["stopTasks", "openBatches", "startTools"],
              always: { guard: "allCallsSettled", target: "#agent.execute.check" },
              on: {
                "tool.started": { guard: "isThisStep", actions: "noteTime" },
                "tool.finished": { guard: "isRunningTool", actions: ["noteTime", "keepOutcome", "startTools"] },
                "approval.requested": {
                  guard: "isRunningTool",
                  actions: ["noteTime", "holdCall", "syncClock", "startTools"],
                },
              },
            },
          },
        },
        check: {
          description: "The results are put before the model.",
          entry: "keepResults",
          always: "gate",
        },
        listening: {
          description: "Has said what there was to say, and waits for the next of its tasks to end.",
          always: [
            {
              guard: "hasAnswered",
              target: "#agent.respond",
              actions: { type: "decide", params: { verdict: completedOutcome } },
            },
            { guard: "hasSaidNothing", target: "gate", actions: "nudge" },
            { guard: "hasHeardEnough", target: "gate" },
          ],
        },
      },
    },
    stopping: {
      description: "Will end: tools are stopped, children told to, and their responses awaited for a moment.",
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
              timer: "grace",
              delayMs: graceMs,
              since: context.lastAt,
            }),
          },
          always: { guard: "hasNoBatches", target: "#agent.respond" },
          on: {
            "timer.fired": {
              guard: "isGraceOver",
              target: "#agent.respond",
              actions: ["noteTime", "abandonBatches"],
            },
          },
        },
      },
    },
    respond: {
      description: "Composes the one response, has it verified, and hands it over.",
      initial: "composing",
      states: {
        composing: {
          entry: "compose",
          always: [{ guard: "hasVerifiers", target: "verifying" }, { target: "settling" }],
        },
        verifying: {
          entry: "beginVerifying",
          invoke: {
            src: "verify",
            input: ({ context }) => ({
              kind: "verify" as const,
              run: context.request.run,
              round: context.verifyRound,
              verifiers: context.pin.definition.verifiers,
              response: responseOf(context),
            }),
          },
          on: {
            "verify.finished": [
              { guard: "isVerified", target: "settling", actions: ["noteTime", "compose"] },
              { guard: "mayTryAgain", target: "#agent.execute", actions: ["noteTime", "keepFailures"] },
              {
                guard: "isThisRound",
                target: "settling",
                actions: ["noteTime", { type: "decide", params: onVerification }, "compose"],
              },
            ],
            "inbox.received": {
              guard: "isCancel",
              target: "settling",
              actions: ["noteTime", { type: "decide", params: onCancel }, "compose"],
            },
            "timer.fired": {
              guard: "isDeadline",
              target: "settling",
              actions: ["noteTime", { type: "decide", params: onDeadline }, "compose"],
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
          on: { "run.settled": { target: "#agent.settled", actions: "keepSettlement" } },
        },
      },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => responseOf(context),
});

/** What the call beside the turns that is set aside for may say; 0 where there was no room for it. */
function outputSetAside(context: AgentContext, outputTokensWanted: number): number {
  return context.outstanding === null ? 0 : sideCallOutput({ ...context, outstanding: null }, outputTokensWanted);
}
