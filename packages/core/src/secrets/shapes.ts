import type { Find } from "./needles.ts";

/**
 * What secrets look like that nobody has told us of. Each shape begins with words of its own and goes on with one run of
 * a few characters, both bounded; a run that does not fit is not tried again from within, because a shape begins only
 * where no letter or digit stands before it. So a text is gone over once, whatever is in it.
 */
interface Shape {
  kind: string;
  /** Two groups: what is kept, and what is not shown. */
  source: string;
  /** Whether what was found is no mere word. @default anything is */
  isSecret?: (value: string) => boolean;
}

/** No shape is longer, and none needs more than the window before its run to be known. */
const runMax = 8_192;
const lengthMax = 3 * runMax;
const prefixMax = 48;

const notInWord = "(?<![A-Za-z0-9])";

/** A key of which nothing but its own characters is known. */
function key(source: string, kind = "API key"): Shape {
  return { kind, source: `${notInWord}()(${source})` };
}

const run = (min: number): string => `[A-Za-z0-9_-]{${min},${runMax}}`;
const token = (min: number): string => `[A-Za-z0-9._~+/=-]{${min},${runMax}}`;

const shapes: readonly Shape[] = [
  key(`sk-(?:ant|proj|svcacct|admin|or)-${run(16)}`),
  // In prose `sk-` begins names too: a key has a digit, and a long part without a dash.
  key(`sk-(?=[A-Za-z_-]{0,64}\\d)(?=(?:[A-Za-z0-9]{0,32}[_-]){0,8}[A-Za-z0-9]{16})${run(20)}`),
  key("AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
  key("A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
  // Seeds of NATS.
  key("S[UAOCN][A-Z2-7]{56}(?![A-Za-z0-9])", "private key"),
  key(`gh[pousr]_[A-Za-z0-9]{30,${runMax}}`, "access token"),
  key(`github_pat_[A-Za-z0-9_]{40,${runMax}}`, "access token"),
  key(`xox[abeoprs]-[A-Za-z0-9-]{10,${runMax}}`, "access token"),
  key(`[rs]k_(?:live|test)_[A-Za-z0-9]{16,${runMax}}`),
  key(`(?:gsk_|hf_|xai-|npm_)[A-Za-z0-9]{30,${runMax}}`),
  key(`glpat-${run(20)}`, "access token"),
  // Its parts are gone over to their ends before it is known: none of them may begin within another.
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

/** Words that stand where a password would, in every manual. */
const placeholder = /^(?:[${%*[].*|x+|pass(?:word|wd)?|passphrase|secret|token|user(?:name)?|changeme|example)$/i;

function isPlaceholder(value: string): boolean {
  return placeholder.test(value);
}

/** A word, however long, has no digit in it and no capital within. */
function looksRandom(value: string): boolean {
  return /\d|[a-z][A-Z]/.test(value);
}

/** Several, each with few beginnings of some length: these the engine skips along, where it would crawl along one. */
const quickLooks: readonly RegExp[] = [
  /(?:sk-|eyJ|xox|hf_|AIz|AKI|ASI)[A-Za-z0-9_-]{8}/,
  /S[UAOCN][A-Z2-7]{16}/,
  /(?:gh[pousr]_|gsk_|xai-|npm_)[A-Za-z0-9_-]{8}/,
  /(?:github_pat_|k_live_|k_test_|glpat-)[A-Za-z0-9_-]{8}/,
  /:\/\/[!$%&(-.0-;=@-[\]^-~]{1,330}@/,
  /(?:orizatio|ORIZATIO|pi-[Kk]e|PI-KE)/,
  /(?:earer|EARER) {1,2}[A-Za-z0-9._~+/=-]{16}/,
  /-----BEGIN [A-Z ]{8}/,
];

/** A quick look: where it says no, no shape is there. Holds for the JSON of a text as well as for the text. */
export function mayHaveShape(text: string): boolean {
  return quickLooks.some((look) => look.test(text));
}

/**
 * What looks like a secret in a text, from left to right, with the words that it was known by: those stay, and a mark
 * that names its kind comes after them. What turned out to be none stays as it is, but nothing is looked for in it.
 */
export function findShapes(text: string, markOf: (kind: string) => string): Find[] {
  if (!mayHaveShape(text)) return [];
  const finds: Find[] = [];
  for (const match of text.matchAll(combined)) {
    const place = shapes.findIndex((_, i) => match[2 * i + 2] !== undefined);
    const { kind, isSecret } = shapes[place] ?? {};
    const [kept = "", value = ""] = match.slice(2 * place + 1, 2 * place + 3);
    const shown = kind === undefined || isSecret?.(value) === false ? value : markOf(kind);
    finds.push({ start: match.index, end: match.index + match[0].length, mark: kept + shown });
  }
  return finds;
}

/** How each shape begins: where one of these is, and nothing after it tells otherwise, the rest has to be waited for. */
const beginning =
  /sk-|AIza|A(?:KIA|SIA)|gh[pousr]_|github_pat_|xox|[rs]k_|gsk_|hf_|xai-|npm_|glpat-|eyJ|:\/\/|[Aa]uthorization|AUTHORIZATION|[Aa]pi-[Kk]ey|API-KEY|[Bb]earer|BEARER/;
const beginningOfBeginning = /[A-Za-z_:/-]{1,16}$/;
const insidePrivateKey = /-----BEGIN [A-Za-z0-9+/=\s\\:,-]*$/;

/** The first place from which a text may hold the beginning of a shape that goes on after its end. */
export function shapeOpenFrom(text: string): number {
  const places = [text.search(beginningOfBeginning)];
  const lineFrom = Math.max(0, text.length - lengthMax);
  const runFrom = Math.max(lineFrom, Math.max(startOfWord(text, lineFrom) - prefixMax, 0));
  const begun = text.slice(runFrom).search(beginning);
  if (begun !== -1) places.push(runFrom + begun);
  const key = text.lastIndexOf("-----BEGIN ");
  if (key >= lineFrom && insidePrivateKey.test(text.slice(key))) places.push(key);
  return Math.min(...places.map((place) => (place === -1 ? text.length : place)));
}

const space = 0x20;

/** Where the last run of characters that are no white space begins. */
function startOfWord(text: string, from: number): number {
  let place = text.length;
  while (place > from && text.charCodeAt(place - 1) > space) place -= 1;
  return place;
}

export const shapeKinds: readonly string[] = [...new Set(shapes.map(({ kind }) => kind))];
