import type { ChannelMessage } from "../../../ports/channels.ts";
import { excerpt, type ReadMessage, reference, sentencesOf } from "./conversation.ts";

const itemsMax = 20;

const decision =
  /\b(?:we(?:'ve| have)? (?:decided|agreed|settled)|decided (?:to|that|on|in|against)|decision\s*(?::|is\b|was\b)|agreed\b|settled on|(?:let's|we(?:'ll| will)?|we're) (?:go|going) with|final (?:answer|decision)|approved\b|it is decided)/i;
const undecided =
  /\bdecision (?:is )?(?:needed|open|pending)|\b(?:not|nothing|have we|did we) (?:yet )?(?:decided|agreed)|\?\s*$/i;

/** Sentences that state a decision. `about` is the first message of the thread. */
export function findDecisions(conversation: readonly ReadMessage[]) {
  return conversation
    .flatMap(({ message, root }) =>
      sentencesOf(message.text)
        .filter((sentence) => decision.test(sentence) && !undecided.test(sentence))
        .map((sentence) => ({
          ...{ text: excerpt(sentence), ...reference(message) },
          about: root === null ? null : excerpt(root.text),
        })),
    )
    .slice(-itemsMax);
}

/** Questions, the open ones first. A later message of another member in the thread answers it. */
export function findQuestions(conversation: readonly ReadMessage[]) {
  const questions = conversation.flatMap(({ message, after }) =>
    sentencesOf(message.text)
      .filter((sentence) => /\?["')\]]*$/.test(sentence))
      .map((sentence) => {
        const answer = after.find(({ author }) => author.id !== message.author.id) ?? null;
        return {
          ...{ text: excerpt(sentence), ...reference(message), answered: answer !== null },
          answer: answer && { author: answer.author.name, text: excerpt(answer.text) },
        };
      }),
  );
  return questions.toSorted((a, b) => Number(a.answered) - Number(b.answered)).slice(0, itemsMax);
}

const verbs =
  "add|address|arrange|ask|book|build|bring|call|change|check|clean|close|collect|confirm|contact|create|deliver|deploy|do|" +
  "document|draft|email|enter|explain|file|find|finish|fix|follow|forward|get|give|handle|implement|investigate|invite|look|make|" +
  "measure|merge|migrate|move|open|order|organize|ping|plan|post|prepare|publish|push|release|remind|remove|rename|report|" +
  "research|review|rewrite|roll|run|schedule|send|set|share|ship|shorten|sign|sort|start|summarize|switch|take|talk|test|" +
  "update|upgrade|upload|verify|vote|write";
const promise = new RegExp(
  String.raw`\bI(?:'ll| will| am going to|'m going to| can)?\s+(?:also\s+|then\s+)?(?:${verbs})\b`,
  "i",
);
const request = new RegExp(
  String.raw`@[\w.-]+[,:]?\s.*\b(?:${verbs})\b|\b(?:can|could|would) (?:you|we)\s+(?:please\s+)?(?:${verbs})\b|\bplease\s+(?:${verbs})\b|\breminder\b.*\b(?:${verbs})\b|\bplease\.?$`,
  "i",
);
const label = /^\s*(?:todo|to do|action(?: item)?|next step)\s*:/i;
const past = /\bI (?:sent|fixed|did|have|was)\b/i;
const due =
  /\b(?:(?:by|until|before|on|from)\s+)?(?:the\s+)?(?:end of (?:the |this |next )?(?:day|week|month|quarter)|today|tonight|tomorrow(?: morning)?|this (?:week|afternoon|evening)|next (?:week|month)|(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: morning)?)\b/i;
const yes = /^(?:yes|yep|sure|ok|okay|will do|done|on it|of course|agreed)\b/i;

/** Promises and requests, with the person who has to act. Null: everyone who reads it. */
export function findActionItems(conversation: readonly ReadMessage[]) {
  return conversation
    .flatMap(({ message, root, after }) =>
      sentencesOf(message.text).flatMap((sentence) => {
        const item = actionOf(sentence, message, after);
        const when = due.exec(sentence)?.[0] ?? null;
        const context = root?.text ?? message.text;
        const about = context === sentence ? null : excerpt(context);
        return item === null ? [] : [{ ...item, text: excerpt(sentence), due: when, about, ...reference(message) }];
      }),
    )
    .slice(-itemsMax);
}

function actionOf(sentence: string, message: ChannelMessage, after: readonly ChannelMessage[]) {
  if (isPromise(sentence)) return { person: message.author.name, accepted: true };
  if (!request.test(sentence) && !label.test(sentence)) return null;
  const [, handle = null] = /@([\w.-]*\w)/.exec(sentence) ?? [];
  const answer = after.find(({ author }) => author.id !== message.author.id);
  // The promise of the answer is the item.
  if (answer && sentencesOf(answer.text.replace(yes, "")).some(isPromise)) return null;
  const isAccepted = answer !== undefined && yes.test(answer.text);
  const named = handle === null ? null : (memberNamed(handle, after) ?? handle);
  return { person: named ?? (isAccepted ? answer.author.name : null), accepted: isAccepted };
}

function isPromise(sentence: string): boolean {
  return promise.test(sentence) && !past.test(sentence) && !sentence.endsWith("?");
}

/** The name of a member who wrote in the thread. */
function memberNamed(handle: string, messages: readonly ChannelMessage[]): string | null {
  const folded = handle.toLowerCase();
  const found = messages.find(({ author }) => author.id.toLowerCase() === folded || isFirstName(author.name, folded));
  return found?.author.name ?? null;
}

function isFirstName(name: string, folded: string): boolean {
  return name.toLowerCase().split(/\s+/).includes(folded);
}

/** The links of a conversation, each once. */
export function findLinks(conversation: readonly ReadMessage[]) {
  const links = new Map<string, ReturnType<typeof reference> & { url: string }>();
  for (const { message } of conversation) {
    for (const [found] of message.text.matchAll(/https?:\/\/[^\s<>|"']+/g)) {
      const url = found.replace(/[.,;:!?)\]]+$/, "");
      if (!links.has(url)) links.set(url, { url, ...reference(message) });
    }
  }
  return [...links.values()].slice(0, itemsMax);
}

const quotesMax = 5;

/** The messages with the most reactions and replies. */
export function findQuotes(conversation: readonly ReadMessage[]) {
  return conversation
    .map(({ message }) => ({ message, reactions: message.reactions.reduce((sum, { count }) => sum + count, 0) }))
    .filter(({ message, reactions }) => reactions + message.replyCount > 0)
    .toSorted((a, b) => b.reactions + b.message.replyCount - (a.reactions + a.message.replyCount))
    .slice(0, quotesMax)
    .map(({ message, reactions }) => ({
      ...{ text: excerpt(message.text), reactions, replies: message.replyCount, ...reference(message) },
    }));
}
