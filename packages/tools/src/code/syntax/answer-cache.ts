import type { Answers, Unparsed } from "./queries.ts";

type Answer = Answers[keyof Answers] | Unparsed;

/** In definitions, names and places: about 200 bytes each. */
const weightMax = 200_000;

/** Answers by what was asked of which content; those not asked for longest go first. */
export function createAnswerCache(): { get(key: string): Answer | null; set(key: string, answer: Answer): void } {
  const answers = new Map<string, Answer>();
  let weight = 0;
  return {
    get(key) {
      const answer = answers.get(key);
      if (!answer) return null;
      answers.delete(key);
      answers.set(key, answer);
      return answer;
    },
    set(key, answer) {
      if (answers.has(key)) return;
      answers.set(key, answer);
      weight += weightOf(answer);
      for (const [oldest, old] of answers) {
        if (weight <= weightMax) break;
        answers.delete(oldest);
        weight -= weightOf(old);
      }
    },
  };
}

function weightOf(answer: Answer): number {
  if ("problem" in answer) return 1;
  if ("places" in answer) return 1 + answer.places.length;
  return 1 + answer.definitions.length + answer.imports.length + answer.exports.length;
}
