import { planOf } from "./calls.ts";
import { compactionTokens, planCompaction, planTrim } from "./compaction.ts";
import { handledInput } from "./domain-answer.ts";
import { backoffTimer } from "./model-retry.ts";
import {
  onCancel,
  onCap,
  onCompletion,
  onDeadline,
  onEmptyReply,
  onLastTurn,
  onLoop,
  onModelFailure,
  onOwedDelegation,
  onRefusal,
  onSpawnRefusal,
} from "./outcomes.ts";
import { reservedOutput, summaryOutputTokens } from "./setup/model.ts";
import { agentSetup } from "./setup.ts";

/** The working state of the agent machine: turns, tool calls and delegations, until the run has an answer or meets a cap. */
export const executeState = agentSetup.createStateConfig({
  description: "Repeats think → act → check until it has an answer or meets a cap.",
  initial: "gate",
  entry: "beginExecution",
  on: {
    "inbox.received": {
      guard: "isCancel",
      target: "stopping",
      actions: ["recordTime", "bookLostCall", { type: "setOutcome", params: onCancel }],
    },
    "timer.fired": {
      guard: "isDeadline",
      target: "stopping",
      actions: ["recordTime", "bookLostCall", { type: "setOutcome", params: onDeadline }],
    },
  },
  states: {
    gate: {
      description: "Decides whether another turn begins.",
      always: [
        { guard: "isPaused", target: "paused" },
        {
          guard: "isSpawnRefused",
          target: "#agent.respond",
          actions: { type: "setOutcome", params: onSpawnRefusal },
        },
        { guard: "mustCheckChildren", target: "checkingChildren" },
        { guard: "mustTrim", target: "trimming" },
        { guard: "mustCompact", target: "compacting" },
        { guard: "mustAwaitTasks", target: "listening" },
        { guard: "hasReachedCap", target: "#agent.stopping", actions: { type: "setOutcome", params: onCap } },
        { target: "think", actions: "beginTurn" },
      ],
    },
    paused: {
      description: "Paused by a person: starts nothing new.",
      always: { guard: "isNotPaused", target: "gate" },
    },
    checkingChildren: {
      description: "Checks the results of children before the model relies on them.",
      entry: "beginCheck",
      invoke: {
        src: "checkChildren",
        input: ({ context }) => ({
          kind: "checkChildren" as const,
          run: context.request.run,
          round: context.checkRound,
          checks: context.uncheckedChildren,
        }),
      },
      on: {
        "children.checked": { guard: "isCurrentCheck", target: "gate", actions: ["recordTime", "storeChildChecks"] },
      },
    },
    trimming: {
      description: "Replaces older results by placeholders, because the conversation nears its limit.",
      invoke: {
        src: "trim",
        input: ({ context }) => ({ kind: "trim" as const, run: context.request.run, ...planTrim(context) }),
      },
      on: { "context.trimmed": { guard: "isNextStep", target: "gate", actions: ["recordTime", "trimConversation"] } },
    },
    compacting: {
      description: "Replaces the history by a summary, because trimming was not enough.",
      entry: "reserveForCompaction",
      invoke: {
        src: "compact",
        input: ({ context }) => ({
          kind: "compact" as const,
          run: context.request.run,
          ...planCompaction(context),
          maxOutputTokens: reservedOutput(context, compactionTokens(context)),
        }),
      },
      on: {
        "context.compacted": { guard: "isNextStep", target: "gate", actions: ["recordTime", "compactConversation"] },
        "run.claimed": { target: "gate", actions: ["skipUnheldTime", "recordTime", "startDeadline", "chargeLostCall"] },
      },
    },
    think: {
      description: "Calls the model.",
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
          ...handledInput(context),
        }),
      },
      on: {
        "run.claimed": {
          target: "gate",
          actions: ["skipUnheldTime", "recordTime", "startDeadline", "chargeLostCall", "repeatTurn"],
        },
        "model.replied": [
          {
            guard: "isRefusal",
            target: "#agent.stopping",
            actions: ["recordTime", "appendReply", { type: "setOutcome", params: onRefusal }],
          },
          {
            guard: "isLoop",
            target: "#agent.stopping",
            actions: ["recordTime", "appendReply", { type: "setOutcome", params: onLoop }],
          },
          { guard: "wantsTools", target: "act", actions: ["recordTime", "appendReply", "prepareCalls"] },
          {
            guard: "wantsToolsOnLastTurn",
            target: "#agent.stopping",
            actions: ["recordTime", "appendReply", { type: "setOutcome", params: onLastTurn }],
          },
          { guard: "hasPendingMessages", target: "gate", actions: ["recordTime", "appendReply"] },
          { guard: "hasOpenTasks", target: "listening", actions: ["recordTime", "appendReply"] },
          {
            guard: "isEmptyOnLastTurn",
            target: "#agent.stopping",
            actions: ["recordTime", "appendReply", { type: "setOutcome", params: onLastTurn }],
          },
          {
            guard: "isEmptyTwice",
            target: "#agent.stopping",
            actions: ["recordTime", "appendReply", { type: "setOutcome", params: onEmptyReply }],
          },
          { guard: "isEmpty", target: "gate", actions: ["recordTime", "appendReply", "remindModel"] },
          { guard: "mustRemind", target: "gate", actions: ["recordTime", "appendReply", "remindOfDelegation"] },
          {
            guard: "owesDelegation",
            target: "#agent.respond",
            actions: ["recordTime", "appendReply", { type: "setOutcome", params: onOwedDelegation }],
          },
          {
            guard: "isCurrentStep",
            target: "#agent.respond",
            actions: ["recordTime", "appendReply", { type: "setOutcome", params: onCompletion }],
          },
        ],
        "model.failed": [
          { guard: "isRateLimited", target: "backingOff", actions: ["recordTime", "recordModelFailure", "backOff"] },
          { guard: "canRetryModel", target: "backingOff", actions: ["recordTime", "recordModelFailure", "backOff"] },
          {
            guard: "isCurrentStep",
            target: "#agent.stopping",
            actions: ["recordTime", "recordModelFailure", { type: "setOutcome", params: onModelFailure }],
          },
        ],
      },
    },
    backingOff: {
      description: "Waits, then repeats the turn: the provider asked to wait, or its answer was lost.",
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
      on: { "timer.fired": { guard: "isBackoffOver", target: "gate", actions: "recordTime" } },
    },
    act: {
      description: "Runs tools and children in parallel, up to their caps.",
      initial: "deciding",
      states: {
        deciding: { always: [{ guard: "needsPlan", target: "planning" }, { target: "working" }] },
        planning: {
          description: "Journals the plan of the turn's calls before any of them starts.",
          invoke: {
            src: "planCalls",
            input: ({ context }) => ({
              kind: "planCalls" as const,
              run: context.request.run,
              ...(planOf(context) ?? { step: context.step, children: [], refused: [] }),
            }),
          },
          on: {
            "calls.planned": { target: "planned", actions: ["recordTime", "recordPlan"] },
          },
        },
        planned: {
          description: "Waits here while paused, before the summary for its children.",
          always: [
            { guard: "canStartCalls", target: "working" },
            { guard: "isNotPaused", target: "summarising" },
          ],
        },
        summarising: {
          description: "Summarises the conversation once, for all children that need it.",
          entry: "reserveForSummary",
          invoke: {
            src: "summarise",
            input: ({ context }) => ({
              kind: "summarise" as const,
              run: context.request.run,
              step: context.step,
              messages: context.messages,
              maxOutputTokens: reservedOutput(context, summaryOutputTokens),
            }),
          },
          on: {
            "context.summarised": {
              guard: "isCurrentStep",
              target: "working",
              actions: ["recordTime", "storeSummary"],
            },
            "run.claimed": {
              target: "planned",
              actions: ["skipUnheldTime", "recordTime", "startDeadline", "chargeLostCall"],
            },
          },
        },
        working: {
          description: "Every call settles on its own.",
          entry: ["cancelTasks", "openBatches", "startTools"],
          always: { guard: "allCallsSettled", target: "#agent.execute.check" },
          on: {
            "tool.started": { guard: "isCurrentStep", actions: "recordTime" },
            "tool.finished": { guard: "isRunningTool", actions: ["recordTime", "storeToolOutcome", "startTools"] },
            "approval.requested": {
              guard: "isRunningTool",
              actions: ["recordTime", "holdCall", "syncClock", "startTools"],
            },
          },
        },
      },
    },
    check: {
      description: "Adds the results to the conversation.",
      entry: "appendToolResults",
      always: "gate",
    },
    listening: {
      description: "The model has nothing to do: waits for the next task to end.",
      always: [
        { guard: "mustRemindAfterTasks", target: "gate", actions: "remindOfDelegation" },
        {
          guard: "owesDelegationAfterTasks",
          target: "#agent.respond",
          actions: { type: "setOutcome", params: onOwedDelegation },
        },
        {
          guard: "hasAnswered",
          target: "#agent.respond",
          actions: { type: "setOutcome", params: onCompletion },
        },
        { guard: "hasEmptyAnswer", target: "gate", actions: "remindModel" },
        { guard: "canContinue", target: "gate" },
      ],
    },
  },
});
