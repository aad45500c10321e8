import { escapeRegex } from "../ripgrep-output.ts";

/** A word of a goal, in the forms that files may contain. */
export interface GoalTerm {
  word: string;
  /** Beginnings of matching words in names of files and definitions. The first is the stem of the word. */
  stems: string[];
  /** Case-insensitive regular expression of ripgrep for file content. */
  pattern: string;
}

export interface Goal {
  terms: GoalTerm[];
  /** File names and paths in the goal, in lower case. */
  mentions: string[];
  /** True for goals about tests, or about documents. Otherwise these rank below the files that they are about. */
  aboutTests: boolean;
  aboutDocs: boolean;
}

const termsMax = 10;
const stemLengthMin = 3;
/** Longer tokens are neither words nor file names. */
const wordLengthMax = 60;
const mentionLengthMax = 300;

/** Words that describe the task instead of its subject. */
const stopWords = new Set(
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

/** Abbreviations that code uses for common words. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
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
 * Extracts the terms of a goal: its words without stop words, as stems, so that "retries" finds "retry". Identifiers are
 * terms as a whole and in their parts.
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

/** Splits into words first, because one pattern over the whole text would be quadratic. */
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

/** Splits a name into words: `readMcpServer_now` gives read, mcp, server, now. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .flatMap((word) => (word === "" ? [] : [word.toLowerCase()]));
}

/** True when one of the words matches the term. */
export function hasTerm(words: readonly string[], { stems }: GoalTerm): boolean {
  return words.some((word) => stems.some((stem) => (stem.length <= 3 ? word === stem : word.startsWith(stem))));
}

function identifierTerm(token: string, parts: readonly string[]): GoalTerm {
  return { word: token, stems: [parts.join("")], pattern: parts.map(escapeRegex).join("[_-]?") };
}

function wordTerm(word: string): GoalTerm | null {
  if (word.length < stemLengthMin || stopWords.has(word) || /^\d+$/.test(word)) return null;
  const stems = [...new Set([stemOf(word), ...(synonyms[word] ?? [])])];
  return { word, stems, pattern: stems.map(contentPattern).join("|") };
}

/** A short stem must be a whole word. In a name, a capital starts a word (`Api`). */
function contentPattern(stem: string): string {
  if (stem.length > 3) return escapeRegex(stem);
  const capital = `${stem[0]?.toUpperCase()}${stem.slice(1)}`;
  return `(?:\\b|_)${escapeRegex(stem)}(?:s?\\b|_)|(?-i:${escapeRegex(capital)})`;
}

const endings =
  /(?:ational|ization|isation|ations?|ities|iness|ingly|ments?|ness|edly|ings?|ions?|ables?|ibles?|ants?|ents?|ers?|ors?|als?|ied|ies|ed|es|ly|s|y|e)$/;

/** The approximate common beginning of all forms of a word. A short stem matches too much, which lowers its weight. */
function stemOf(word: string): string {
  const cut = word.replace(endings, "");
  const lengthMin = /(?:s|ed|ing|ied|y|e)$/.test(word) ? 4 : 5;
  const stem = cut.length >= lengthMin ? cut : word.replace(/(?:ies|s)$/, (ending) => (ending === "ies" ? "y" : ""));
  const isDoubled = stem.length > 4 && /([b-df-hj-np-tv-z])\1$/.test(stem);
  return isDoubled ? stem.slice(0, -1) : stem;
}
