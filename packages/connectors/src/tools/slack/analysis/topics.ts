import type { ReadMessage } from "./conversation.ts";

const stopWords = new Set(
  (
    "about above actually after again against all also always and another any anyone are around ask away back because been " +
    "before being below best better between both but call can cannot come could did does doing done dont down during each " +
    "else enough even every everyone few find first for from further get give goes going gone good got great had has have " +
    "having hello help her here hers him his how into its itself just keep know last later least less let like little long " +
    "look lot love made make many maybe mean more morning most much must need needs never new next nice night none not " +
    "nothing now off okay old once one only open other our ours out over own people please put quite rather really right " +
    "said same say see send set shall she should show since some someone something soon start still stop such sure take " +
    "tell than thank thanks that the their them then there these they thing things think this those three through time " +
    "today tomorrow tonight too took two under until use used very want was way week well went were what when where which " +
    "while who why will with without work works would yes yesterday yet you your yours monday tuesday wednesday thursday " +
    "friday saturday sunday day days hour hours minute minutes month months year years hi hey all am an as at be by do go " +
    "he if in is it me my no of ok on or so to up us we www http https com reply add adds takes month end planned agreed " +
    "decided decision needed since four five half per"
  ).split(" "),
);

const topicsMax = 8;
const messagesMin = 2;

/** A word or a pair of words that several messages have in common. */
export interface Topic {
  topic: string;
  /** Messages that name it. */
  messages: number;
}

/** The most frequent terms of a conversation, by the number of messages that name them. */
export function findTopics(conversation: readonly ReadMessage[]): Topic[] {
  const counts = new Map<string, number>();
  const forms = new Map<string, Map<string, number>>();
  for (const { message } of conversation) {
    const words = wordsOf(message.text);
    const pairs = words.slice(1).flatMap((word, i) => {
      const before = words[i];
      return before === null || word === null || before === undefined ? [] : [[before, word].join(" ")];
    });
    for (const term of new Set([...words.filter((word) => word !== null), ...pairs])) {
      const stem = stemOf(term);
      counts.set(stem, (counts.get(stem) ?? 0) + 1);
      const known = forms.get(stem) ?? new Map<string, number>();
      forms.set(stem, known.set(term, (known.get(term) ?? 0) + 1));
    }
  }
  const ranked = [...counts]
    .filter(([, count]) => count >= messagesMin)
    .toSorted(([a, many], [b, more]) => more - many || b.split(" ").length - a.split(" ").length || (a < b ? -1 : 1));
  const chosen = ranked.filter(([stem, count]) => !isPartOfPair(stem, count, ranked)).slice(0, topicsMax);
  return chosen.map(([stem, messages]) => ({ topic: commonForm(forms.get(stem)) ?? stem, messages }));
}

/** Words of a text in order. Null stands for a stop word or a sign, which no pair spans. */
function wordsOf(text: string): (string | null)[] {
  const plain = text.replace(/https?:\/\/\S+/g, " . ").replace(/<?@[\w.-]+>?/g, " . ");
  return (plain.toLowerCase().match(/[\p{L}][\p{L}\p{N}'’-]*|[^\s]/gu) ?? []).map((found) => {
    const word = found.replace(/['’]s$/, "").replace(/['’-]+$/, "");
    return word.length < 3 || stopWords.has(word) || !/^\p{L}/u.test(word) ? null : word;
  });
}

/** "tokens" and "token" count as one. */
function stemOf(term: string): string {
  return term.replace(/(?<=\w{3})(?:ies|s)\b/g, (end) => (end === "ies" ? "y" : "")).replace(/(?<=s)$/, "");
}

/** A word that occurs only within a frequent pair says nothing new. */
function isPartOfPair(stem: string, count: number, ranked: readonly (readonly [string, number])[]): boolean {
  if (stem.includes(" ")) return false;
  return ranked.some(
    ([pair, pairCount]) => pair.includes(" ") && pair.split(" ").includes(stem) && pairCount === count,
  );
}

function commonForm(forms: ReadonlyMap<string, number> | undefined): string | undefined {
  return [...(forms ?? [])].toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))[0]?.[0];
}
