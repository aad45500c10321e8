import { escapedForSearch } from "../search-limits.ts";

/** A word of a goal, as files may have it. */
export interface GoalTerm {
  /** As it is shown. */
  word: string;
  /** What names of files and definitions begin with, word by word; the first is its own. */
  stems: string[];
  /** What finds it in content: for ripgrep, whatever the case. */
  pattern: string;
}

export interface Goal {
  terms: GoalTerm[];
  /** Names and paths of files in it, in lower case. */
  mentions: string[];
  /** Whether it is about tests, or about documents: else they come after what they are about. */
  aboutTests: boolean;
  aboutDocs: boolean;
}

const termsMax = 10;
const stemLengthMin = 3;
/** What is longer is no word, and no name of a file. */
const wordLengthMax = 60;
const mentionLengthMax = 300;

/** Words that say what is wanted, not what it is about. */
const idle = new Set(
  (
    "a about above after again all also always an and any are as at be because been before behaviour behavior better both " +
    "bug but by can cannot change changed changes check code correct could create currently did do does doing done each ensure " +
    "else every everything explain fail fails feature file files find finds fix for from function get gets give gives go goes good had handle has have " +
    "having here how i if implement implemented improve in instead into is issue it its itself just keep kind let like look " +
    "long make makes making may me method more most must my need needs never new no not nothing now of off often on once one only " +
    "nobody or other our out over own place please properly put refactor remove rename return said same say says see set should show shows so some " +
    "somebody something still such support sure take than that the their them then there these they thing things this those through " +
    "to too try two under understand up update us use used uses using very want was way ways we well were what when where whether which while " +
    "who why will with within without work works would write wrong yet you your"
  ).split(" "),
);

/** What code calls a thing that people call otherwise. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  authentication: ["auth"],
  authorization: ["auth"],
  command: ["cmd"],
  configuration: ["config"],
  database: ["db", "sqlite", "sql"],
  dependencies: ["deps"],
  directory: ["dir", "folder"],
  directories: ["dir", "folder"],
  folder: ["dir"],
  documentation: ["docs", "readme"],
  environment: ["env"],
  initialization: ["init"],
  initialize: ["init"],
  parameter: ["param"],
  parameters: ["param"],
  repository: ["repo"],
  specification: ["spec"],
};

/**
 * What a goal is about: its words without those that any goal has, each as a stem, so that "retries" finds "retry"; and
 * identifiers whole as well as in their parts.
 *
 * @example
 * goalOf("Why does mayWrite refuse retries?").terms.map(({ word }) => word); // ["mayWrite", "refuse", "retries"]
 */
export function goalOf(text: string): Goal {
  const terms = new Map<string, GoalTerm>();
  const add = (term: GoalTerm | null): void => {
    if (term && !terms.has(term.pattern)) terms.set(term.pattern, term);
  };
  const tokens = (text.match(/[\p{L}\p{N}_-]+/gu) ?? []).filter(({ length }) => length <= wordLengthMax);
  for (const token of tokens) {
    const parts = wordsOf(token);
    if (parts.length > 1) add(identifierTerm(token, parts));
  }
  for (const token of tokens) for (const part of wordsOf(token)) add(wordTerm(part));
  const words = new Set(tokens.flatMap(wordsOf));
  return {
    terms: [...terms.values()].slice(0, termsMax),
    mentions: [...new Set(mentionsIn(text))],
    aboutTests: ["test", "tests", "tested", "testing", "spec", "coverage"].some((word) => words.has(word)),
    aboutDocs: ["docs", "documentation", "document", "readme", "guide", "changelog"].some((word) => words.has(word)),
  };
}

/** By words, since a pattern over the whole would try each of its characters as a beginning. */
function mentionsIn(text: string): string[] {
  return text.split(/[\s,;:()[\]{}"'`<>]+/).flatMap((part) => {
    const path = part
      .replace(/^\.?\//, "")
      .replace(/[.!?/]$/, "")
      .toLowerCase();
    const isPath = path.length <= mentionLengthMax && (path.includes("/") || /\.[a-z]{1,5}$/.test(path));
    return isPath ? [path] : [];
  });
}

/** `readMcpServer_now` is read, mcp, server, now. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .flatMap((word) => (word === "" ? [] : [word.toLowerCase()]));
}

/** Whether the words of a name have a term in them. */
export function hasTerm(words: readonly string[], { stems }: GoalTerm): boolean {
  return words.some((word) => stems.some((stem) => (stem.length <= 3 ? word === stem : word.startsWith(stem))));
}

function identifierTerm(token: string, parts: readonly string[]): GoalTerm {
  return { word: token, stems: [parts.join("")], pattern: parts.map(escapedForSearch).join("[_-]?") };
}

function wordTerm(word: string): GoalTerm | null {
  if (word.length < stemLengthMin || idle.has(word) || /^\d+$/.test(word)) return null;
  const stems = [...new Set([stemOf(word), ...(otherNames[word] ?? [])])];
  return { word, stems, pattern: stems.map(contentPattern).join("|") };
}

/** A short one is only looked for at the beginning of a word, where `Api` in a name is one too. */
function contentPattern(stem: string): string {
  if (stem.length > 3) return escapedForSearch(stem);
  const capital = `${stem[0]?.toUpperCase()}${stem.slice(1)}`;
  return `(?:\\b|_)${escapedForSearch(stem)}(?:s?\\b|_)|(?-i:${escapedForSearch(capital)})`;
}

const endings =
  /(?:ational|ization|isation|ations?|ities|iness|ingly|ments?|ness|edly|ings?|ions?|ables?|ibles?|ants?|ents?|ers?|ors?|als?|ied|ies|ed|es|ly|s|y|e)$/;

/** What forms of a word have in common, roughly: what is cut too short finds too much, which counts for less. */
function stemOf(word: string): string {
  const cut = word.replace(endings, "");
  const lengthMin = /(?:s|ed|ing|ied|y|e)$/.test(word) ? 4 : 5;
  const stem = cut.length >= lengthMin ? cut : word.replace(/(?:ies|s)$/, (ending) => (ending === "ies" ? "y" : ""));
  const isDoubled = stem.length > 4 && /([b-df-hj-np-tv-z])\1$/.test(stem);
  return isDoubled ? stem.slice(0, -1) : stem;
}
