import { failure } from "../workspace/workspace-path.ts";
import type { Hunk } from "./parse-patch.ts";

/** How far from where a hunk says that it is it may be. */
const offsetMax = 250;

const linesShown = 12;

/** A text as lines, each with the end that it has in the file. */
interface Line {
  text: string;
  end: "" | "\n" | "\r\n";
}

/**
 * A text with the hunks of a patch applied in order. Every old line has to be there exactly (line ends aside); only the
 * place may be another than the patch says, by so many lines, and that is noted.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], shown: string, notes: string[] = []): string {
  let lines = linesOf(text);
  let shift = 0;
  let from = 0;
  for (const [i, hunk] of hunks.entries()) {
    const at = placeOf(hunk, lines, { shift, from, which: `hunk ${i + 1} of ${hunks.length}`, shown });
    const old = hunk.lines.filter(({ kind }) => kind !== "+").length;
    const replaced = newLines(hunk, lines, at);
    lines = [...lines.slice(0, at), ...replaced, ...lines.slice(at + old)];
    if (hunk.line !== null) {
      const moved = at - (hunk.line - 1 + shift);
      if (moved !== 0) notes.push(`hunk ${i + 1} of ${shown} was ${moved} lines from where it says that it is`);
      shift = at - (hunk.line - 1) + replaced.length - old;
    }
    from = at + replaced.length;
  }
  const usual = lines[0]?.end || "\n";
  return lines.map(({ text: line, end }, i) => line + (i < lines.length - 1 ? end || usual : end)).join("");
}

/** The text of a new file. */
export function textOfNew(hunks: readonly Hunk[]): string {
  const added = hunks.flatMap(({ lines }) => lines.filter(({ kind }) => kind === "+"));
  const isOpen = hunks.at(-1)?.open.new === true || added.length === 0;
  return added.map(({ text }) => text).join("\n") + (isOpen ? "" : "\n");
}

interface Search {
  shift: number;
  from: number;
  which: string;
  shown: string;
}

/** Index of the line where the hunk begins. Throws where its old lines are not, or not at one place alone. */
function placeOf(hunk: Hunk, lines: readonly Line[], search: Search): number {
  const old = hunk.lines.filter(({ kind }) => kind !== "+").map(({ text }) => text);
  if (hunk.line !== null) return numbered(hunk.line, old, lines, search);
  const from = hunk.after === null ? search.from : afterContext(hunk.after, lines, search);
  if (old.length === 0) {
    if (hunk.after !== null) return from;
    if (lines.length === 0 || hunk.isAtEnd) return lines.length;
    throw notApplied(
      search,
      "it has no old lines to say where it belongs; give some lines around it, or @@ and a line",
    );
  }
  const places = allPlaces(old, lines, from).filter((at) => !hunk.isAtEnd || at + old.length === lines.length);
  if (places.length === 1 || (places.length > 1 && hunk.after !== null)) return places[0] as number;
  if (places.length === 0) throw notFound(old, lines, search);
  const where = places.slice(0, 10).map((at) => at + 1);
  throw notApplied(
    search,
    `its old lines are there ${places.length} times, at lines ${where.join(", ")}; give more of them`,
  );
}

function numbered(line: number, old: readonly string[], lines: readonly Line[], search: Search): number {
  const wanted = Math.max(0, line - 1 + search.shift);
  if (old.length === 0) return Math.min(wanted, lines.length);
  for (let offset = 0; offset <= offsetMax; offset++) {
    const near = [wanted + offset, wanted - offset].filter((at) => at >= search.from && isAt(old, lines, at));
    if (near.length > 0) return near[0] as number;
  }
  throw notFound(old, lines, search);
}

function afterContext(after: string, lines: readonly Line[], search: Search): number {
  const at = lines.findIndex((line, i) => i >= search.from && line.text.trim() === after);
  if (at === -1) throw notApplied(search, `the line after @@ is not in the file: ${JSON.stringify(after)}`);
  return at + 1;
}

function allPlaces(old: readonly string[], lines: readonly Line[], from: number): number[] {
  return lines.flatMap((_, at) => (at >= from && isAt(old, lines, at) ? [at] : []));
}

function isAt(old: readonly string[], lines: readonly Line[], at: number): boolean {
  return old.every((text, i) => lines[at + i]?.text === text);
}

/** The lines that take the old ones' place. Those that stay keep their ends; those that are new have their neighbours'. */
function newLines(hunk: Hunk, lines: readonly Line[], at: number): Line[] {
  const usual = lines[at]?.end || lines[0]?.end || "\n";
  const replaced: Line[] = [];
  let next = at;
  for (const { kind, text } of hunk.lines) {
    const there = lines[next];
    if (kind !== "+") next += 1;
    if (kind === " " && there) replaced.push(there);
    if (kind === "+") replaced.push({ text, end: there?.end || usual });
  }
  return withLastEnd(replaced, { hunk, isLast: next === lines.length, usual, wasOpen: lines.at(-1)?.end === "" });
}

/** Only a file's last line may have no end: it has none where the patch says so, or where it had none and stays. */
function withLastEnd(
  lines: Line[],
  { hunk, isLast, usual, wasOpen }: { hunk: Hunk; isLast: boolean; usual: Line["end"]; wasOpen: boolean },
): Line[] {
  const ended = lines.map((line): Line => (line.end === "" ? { ...line, end: usual } : line));
  const last = ended.pop();
  if (!last) return ended;
  const stays = hunk.lines.at(-1)?.kind === " ";
  const isOpen = isLast && (hunk.open.new || (wasOpen && stays && !hunk.open.old));
  return [...ended, isOpen ? { ...last, end: "" } : last];
}

function linesOf(text: string): Line[] {
  return [...text.matchAll(/([^\n]*?)(\r?\n|$)/g)].flatMap(([whole, line = "", end = ""]) =>
    whole === "" ? [] : [{ text: line, end: end as Line["end"] }],
  );
}

function notFound(old: readonly string[], lines: readonly Line[], search: Search) {
  const near = nearest(old, lines);
  const wanted = `\nIts old lines:${excerpt(old, null)}`;
  if (near === -1) return notApplied(search, `its old lines are not in the file, nor any like them.${wanted}`);
  const there = lines.slice(near, near + old.length).map(({ text }) => text);
  return notApplied(
    search,
    `its old lines are not in the file.${wanted}\nWhat is most like them:${excerpt(there, near)}`,
  );
}

/** Where most of the old lines are in their places, white space aside. */
function nearest(old: readonly string[], lines: readonly Line[]): number {
  const bare = old.map((text) => text.trim());
  let best = { at: -1, same: 0 };
  for (let at = 0; at < lines.length; at++) {
    let same = 0;
    for (let i = 0; i < Math.min(bare.length, linesShown); i++) {
      if (bare[i] !== "" && lines[at + i]?.text.trim() === bare[i]) same += 1;
    }
    if (same > best.same) best = { at, same };
  }
  return best.at;
}

function excerpt(lines: readonly string[], at: number | null): string {
  const shown = lines
    .slice(0, linesShown)
    .map((line, i) => `\n${at === null ? "" : `${at + i + 1}: `}${line.slice(0, 200)}`);
  return shown.join("") + (lines.length > linesShown ? "\n…" : "");
}

function notApplied({ which, shown }: Search, reason: string) {
  return failure("params", `nothing was changed: ${which} of ${shown} does not fit: ${reason}`);
}
