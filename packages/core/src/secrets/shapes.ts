import type { Match } from "./needles.ts";

/**
 * Formats of unknown secrets. Each shape has its own prefix and one run of characters, both with a maximum length. A shape
 * begins only after a character that is not a letter or digit, so a failed run is not tried again from its middle. Matching
 * is therefore linear for every text.
 */
interface Shape {
  kind: string;
  /** Two groups: the part that stays, and the secret. */
  source: string;
  /** Excludes plain words. @default every match is a secret */
  isSecret?: (value: string) => boolean;
}

/** Maximum lengths of a run, a whole shape, and a prefix. */
const runMax = 8_192;
const lengthMax = 3 * runMax;
const prefixMax = 48;

const notInWord = "(?<![A-Za-z0-9])";

/** A shape without a part that stays. */
function key(source: string, kind = "API key"): Shape {
  return { kind, source: `${notInWord}()(${source})` };
}

const run = (min: number): string => `[A-Za-z0-9_-]{${min},${runMax}}`;
const token = (min: number): string => `[A-Za-z0-9._~+/=-]{${min},${runMax}}`;

const shapes: readonly Shape[] = [
  key(`sk-(?:ant|proj|svcacct|admin|or)-${run(16)}`),
  // Some names in prose begin with `sk-`, too. A key has a digit and a long part without a dash.
  key(`sk-(?=[A-Za-z_-]{0,64}\\d)(?=(?:[A-Za-z0-9]{0,32}[_-]){0,8}[A-Za-z0-9]{16})${run(20)}`),
  key("AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
  key("A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
  // NATS seeds.
  key("S[UAOCN][A-Z2-7]{56}(?![A-Za-z0-9])", "private key"),
  key(`gh[pousr]_[A-Za-z0-9]{30,${runMax}}`, "access token"),
  key(`github_pat_[A-Za-z0-9_]{40,${runMax}}`, "access token"),
  key(`xox[abeoprs]-[A-Za-z0-9-]{10,${runMax}}`, "access token"),
  key(`[rs]k_(?:live|test)_[A-Za-z0-9]{16,${runMax}}`),
  key(`(?:gsk_|hf_|xai-|npm_)[A-Za-z0-9]{30,${runMax}}`),
  key(`glpat-${run(20)}`, "access token"),
  // All parts are read before it matches, so none of them may begin within another one.
  { kind: "JWT", source: `(?<![A-Za-z0-9_-])()(eyJ${run(8)}\\.eyJ${run(8)}\\.${run(8)})` },
  {
    kind: "private key",
    source:
      "()(-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----" +
      "(?:(?:\\s|\\\\[nr]){1,4}[A-Za-z-]{1,20}: [A-Za-z0-9,-]{1,80}){0,4}" +
      `(?:\\s|\\\\[nr]){0,8}[A-Za-z0-9+/=]{16}[A-Za-z0-9+/=\\s\\\\]{0,${2 * runMax}}` +
      "(?:-----END [A-Z ]{1,40}-----)?)",
  },
  {
    kind: "credential",
    source:
      `${notInWord}((?:[Aa]uthorization|AUTHORIZATION|(?:[Xx]-)?[Aa]pi-[Kk]ey|X-API-KEY)` +
      `\\\\?["']? {0,2}[:=] {0,2}\\\\?["']?(?:[A-Za-z]{1,10} {1,2})?)(${token(12)})`,
    isSecret: looksRandom,
  },
  {
    kind: "credential",
    source: `${notInWord}((?:[Bb]earer|BEARER) {1,2})(${token(16)})`,
    isSecret: looksRandom,
  },
  {
    kind: "password",
    source: "(://[!$&(-.0-9;=A-Z_a-z~%+]{0,64}:)([!$%&(-.0-;=@-[\\]^-~]{1,256})(?=@)",
    isSecret: (value) => !isPlaceholder(value),
  },
];

const combined = new RegExp(shapes.map(({ source }) => source).join("|"), "g");

/** Placeholders of passwords in documentation. */
const placeholder = /^(?:[${%*[].*|x+|pass(?:word|wd)?|passphrase|secret|token|user(?:name)?|changeme|example)$/i;

function isPlaceholder(value: string): boolean {
  return placeholder.test(value);
}

/** A plain word has no digit and no inner capital letter. */
function looksRandom(value: string): boolean {
  return /\d|[a-z][A-Z]/.test(value);
}

/** Several patterns with few prefixes each: the engine searches these much faster than one large pattern. */
const quickPatterns: readonly RegExp[] = [
  /(?:sk-|eyJ|xox|hf_|AIz|AKI|ASI)[A-Za-z0-9_-]{8}/,
  /S[UAOCN][A-Z2-7]{16}/,
  /(?:gh[pousr]_|gsk_|xai-|npm_)[A-Za-z0-9_-]{8}/,
  /(?:github_pat_|k_live_|k_test_|glpat-)[A-Za-z0-9_-]{8}/,
  /:\/\/[!$%&(-.0-;=@-[\]^-~]{1,330}@/,
  /(?:orizatio|ORIZATIO|pi-[Kk]e|PI-KE)/,
  /(?:earer|EARER) {1,2}[A-Za-z0-9._~+/=-]{16}/,
  /-----BEGIN [A-Z ]{8}/,
];

/** A quick check. False means that neither the text nor its JSON has a shape. */
export function mayHaveShape(text: string): boolean {
  return quickPatterns.some((pattern) => pattern.test(text));
}

/**
 * All shapes in a text, from left to right. The replacement keeps the identifying part and has a mark for the secret. A match
 * that is a plain word is replaced by itself, so that nothing is searched within it.
 */
export function findShapes(text: string, markOf: (kind: string) => string): Match[] {
  if (!mayHaveShape(text)) return [];
  const matches: Match[] = [];
  for (const match of text.matchAll(combined)) {
    const index = shapes.findIndex((_, i) => match[2 * i + 2] !== undefined);
    const { kind, isSecret } = shapes[index] ?? {};
    const [prefix = "", value = ""] = match.slice(2 * index + 1, 2 * index + 3);
    const shown = kind === undefined || isSecret?.(value) === false ? value : markOf(kind);
    matches.push({ start: match.index, end: match.index + match[0].length, mark: prefix + shown });
  }
  return matches;
}

/** The start of every shape. After one of these, the rest of the text may be an incomplete secret. */
const shapeStart =
  /sk-|AIza|A(?:KIA|SIA)|gh[pousr]_|github_pat_|xox|[rs]k_|gsk_|hf_|xai-|npm_|glpat-|eyJ|:\/\/|[Aa]uthorization|AUTHORIZATION|[Aa]pi-[Kk]ey|API-KEY|[Bb]earer|BEARER/;
const incompleteStart = /[A-Za-z_:/-]{1,16}$/;
const insidePrivateKey = /-----BEGIN [A-Za-z0-9+/=\s\\:,-]*$/;

/** The first index from which the rest of a text may be an incomplete shape. */
export function shapeOpenFrom(text: string): number {
  const candidates = [text.search(incompleteStart)];
  const lineFrom = Math.max(0, text.length - lengthMax);
  const runFrom = Math.max(lineFrom, Math.max(startOfWord(text, lineFrom) - prefixMax, 0));
  const begun = text.slice(runFrom).search(shapeStart);
  if (begun !== -1) candidates.push(runFrom + begun);
  const key = text.lastIndexOf("-----BEGIN ");
  if (key >= lineFrom && insidePrivateKey.test(text.slice(key))) candidates.push(key);
  return Math.min(...candidates.map((index) => (index === -1 ? text.length : index)));
}

const space = 0x20;

/** Start of the last run of characters without white space. */
function startOfWord(text: string, from: number): number {
  let at = text.length;
  while (at > from && text.charCodeAt(at - 1) > space) at -= 1;
  return at;
}

export const shapeKinds: readonly string[] = [...new Set(shapes.map(({ kind }) => kind))];
