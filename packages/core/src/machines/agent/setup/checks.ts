import { afterChecks } from "../child-checks.ts";
import { withMessage } from "../conversation.ts";
import { spawnRefusal } from "../spawn.ts";
import { delegationReminder, owedDelegation } from "../triggers.ts";
import { agentBase, type Guard } from "./base.ts";
import { delegationGuards } from "./delegation.ts";

/** Duties beyond the model's own judgement: the delegation that a request requires, and checks of children's results. */

/** The model is reminded of a mandatory delegation at most this often. Then the run fails. */
const remindersMax = 2;

const canRemind: Guard = ({ context }) =>
  owedDelegation(context) !== null && context.delegationReminders < remindersMax && context.turn?.last === null;

const isAnswer: Guard = ({ context, event }) => "step" in event && event.step === context.step;

const isAnsweredAfterTasks: Guard = (args) => delegationGuards.hasAnswered(args);

export const checkGuards = {
  isSpawnRefused: ({ context }) => spawnRefusal(context) !== null,
  mustCheckChildren: ({ context }) => context.uncheckedChildren.length > 0,
  isCurrentCheck: ({ context, event }) => event.type === "children.checked" && event.round === context.checkRound,
  /** The reply is an answer, although a mandatory delegation has not happened. */
  mustRemind: (args) => isAnswer(args) && canRemind(args),
  owesDelegation: (args) => isAnswer(args) && owedDelegation(args.context) !== null,
  mustRemindAfterTasks: (args) => isAnsweredAfterTasks(args) && canRemind(args),
  owesDelegationAfterTasks: (args) => isAnsweredAfterTasks(args) && owedDelegation(args.context) !== null,
} satisfies Record<string, Guard>;

export const checkActions = {
  beginCheck: agentBase.assign(({ context }) => ({ checkRound: context.checkRound + 1 })),
  storeChildChecks: agentBase.assign(({ context, event }) => {
    if (event.type !== "children.checked") return {};
    const { message, ...checks } = afterChecks(context, event);
    return { ...checks, ...(message === null ? {} : withMessage(context, { role: "user", text: message })) };
  }),
  remindOfDelegation: agentBase.assign(({ context }) => {
    const owed = owedDelegation(context);
    if (!owed) return {};
    return {
      ...withMessage(context, { role: "user", text: delegationReminder(owed) }),
      delegationReminders: context.delegationReminders + 1,
    };
  }),
};
