/**
 * Two kinds of unclear prose, found by pattern: words for an unnamed actor, and clauses without a head noun.
 *
 * The patterns are tuned on the comments of other projects. Hits per 10,000 words: restate-sdk-gen and hono 0,
 * temporal 1, xstate 1, nats.js 2, zod 4. Plain uses of the same words pass: questions, "Defines what happens",
 * "a user who", "Whether to retry", "there is no". Only lower these figures; a pattern that hits plain English is wrong.
 */

export interface ProseHit {
  rule: ProseRule;
  /** Position in the text that was searched. */
  offset: number;
  end: number;
  /** The words there, on one line. */
  words: string;
  /** How to write it instead. */
  use: string;
}

export type ProseRule = "dialect" | "headless";

interface Pattern {
  rule: ProseRule;
  pattern: RegExp;
  use: string;
}

/** Where a sentence or a clause begins: the start of the text, after a stop, a colon, a table bar or a list mark. */
const start = String.raw`(?<=^\s*(?:[-*]\s+)?|[.!?;:|(]["')\]]?\s+|\n\s*(?:[-*]|\d+\.)\s+|\n\s*\n\s*)`;
/** The rest of the sentence does not end in a question mark. */
const noQuestion = String.raw`(?![^.!?;|]*\?)`;
const being = "(?:is|are|was|were|be|been|being)";

/** Verbs and prepositions that take "what happened" in plain English: "Defines what happens", "is what makes". */
const takesWhat = [
  "(?:defin|decid|determin|describ|explain|specif|identif|establish|control|influenc|show|say|tell|see|know|learn|diagnos|report|verif|remember|predict)\\w*",
  "(?:ask|said|told|shown|seen|known|knew|saw|sure)",
  "(?:understand|discover|find\\s+out|figure\\s+out|check|inspect|compare|matter|matching|exactly|like|than|of|on|about)s?",
  `(?:${being}|depending\\s+on|differ\\w*\\s+from|back\\s+to|beyond|\\w+'s)`,
].join("|");
/** What may follow "what" in a clause that names no thing: "what is there", "what it has", "what somebody wrote". */
const clause = [
  `(?:${being}|has|had|have|does|did|do|can|could|may|might|must|will|would|should|shall)`,
  "(?:it|he|she|they|we|one|this|that|these|those|a|an|the|its|his|their|each|every|another|others|all|both)",
  "(?:nobody|somebody|anybody|everybody|nothing|something)",
  "(?:\\w+(?<!s)s|came|went|stood|ran|began|left|remained|followed|held|changed)",
].join("|");
/** "is no longer", "is no faster" and the like are comparisons, not a noun that is denied. */
const comparison =
  "longer|more|less|better|worse|faster|slower|fewer|larger|smaller|bigger|greater|higher|lower|earlier|later|older|newer|wider|deeper|stricter|safer|cheaper|different|other|good|one|such";

const patterns: Pattern[] = [
  {
    rule: "dialect",
    pattern: /\b(?:whoever|whomever|nobody|somebody)\b/gi,
    use: "name the actor: the user, the host, the caller, the parent run",
  },
  {
    rule: "headless",
    // "What a run has used.", "Whose turn it is." A heading or a table cell of one word is none.
    pattern: new RegExp(`${start}${noQuestion}wh(?:at|o|om|atever|ichever|omever)(?=\\s+(?!to\\b)\\w)`, "gi"),
    use: "begin with the thing itself: not `What a run has used.` but `Usage of a run.`",
  },
  {
    rule: "headless",
    // "Where a worker finds the server." With a comma it is a condition: "Where possible, …".
    pattern: new RegExp(`${start}Where\\s+(?!to\\b)[^.,;:?!|]*[.;:]`, "g"),
    use: "name the place: not `Where the built page is.` but `Folder of the built page.`",
  },
  {
    rule: "headless",
    // "How a rule reads." A measure is plain: "How long a call may take."
    pattern: new RegExp(
      `${start}${noQuestion}How\\s+(?!to\\b|many\\b|much\\b|long\\b|often\\b|far\\b|old\\b)(?=\\w)`,
      "g",
    ),
    use: "name the thing: not `How others find the server.` but `Address of the server.`",
  },
  {
    rule: "headless",
    pattern: new RegExp(`(?<!\\b(?:${takesWhat})\\s+)(?<=[\\w,]\\s+)what\\s+(?!happen)(?:${clause})\\b`, "gi"),
    use: "name the thing: not `keeps what is there` but `keeps the existing files`",
  },
  {
    rule: "headless",
    pattern: /\b(?:those|that|all|one|ones)\s+(?:who|whom|which)\b|\bthose\s+that\b/gi,
    use: "name the thing: not `those that wait` but `waiting runs`",
  },
  {
    rule: "headless",
    // "a person who waits" has a head; "and who holds it" has none.
    pattern: /\b(?:and|or|but|of|for|by|from|with|than|to|on|says?|knows?|asks?|tells?|is|are)\s+who\b/gi,
    use: "name the actor: not `who holds it` but `the lease holder`",
  },
  {
    rule: "headless",
    pattern: new RegExp(`(?<!\\bthere\\s+)\\b${being}\\s+no\\s+(?!(?:${comparison})\\b)[a-z]\\w*`, "gi"),
    use: "deny the verb: not `is no error` but `is not an error`",
  },
];

/** Uses of a banned word that stay. */
const exceptions = [
  // Journals contain this error message.
  /\bdelegates to nobody\b/g,
  // A user account of Unix.
  /\bsu -c true nobody\b/g,
  // Words that the search for files ignores.
  /\bnobody or other our\b|\bsomebody something still\b/g,
];

/** All hits in a text, by position. Where two patterns of a rule hit the same words it is one hit. */
export function findProse(text: string): ProseHit[] {
  const prose = blankCode(text);
  const words = exceptions.reduce((left, exception) => left.replace(exception, blank), text);
  const hits = patterns.flatMap(({ rule, pattern, use }) =>
    [...(rule === "dialect" ? words : prose).matchAll(pattern)].map(({ 0: found, index }) => ({
      rule,
      offset: index,
      end: index + found.length,
      words: phraseAt(text, index),
      use,
    })),
  );
  hits.sort((a, b) => a.offset - b.offset);
  return hits.filter((hit, at) => !hits.slice(0, at).some(({ rule, end }) => rule === hit.rule && end > hit.offset));
}

/** The first words from a position on, to recognise the place by. */
function phraseAt(text: string, offset: number): string {
  const [phrase = ""] = /^\S+(?:\s+[^\s|]+){0,5}/.exec(text.slice(offset)) ?? [];
  return phrase.replace(/\s+/g, " ");
}

/** Code is not prose: a span becomes one word, a block becomes spaces, and every position stays. */
function blankCode(text: string): string {
  return text.replace(/```[\s\S]*?```/g, blank).replace(/`[^`\n]*`/g, (span) => "x".repeat(span.length));
}

function blank(text: string): string {
  return text.replace(/\S/g, " ");
}
