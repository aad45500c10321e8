import type { Json } from "@troupe/core";
import type { Replayed } from "@troupe/runtime";
import type { Cli } from "../cli.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import { withArchive } from "../session/archive.ts";
import { resolveSessionId } from "../session/resolve-ids.ts";

/** `troupe sessions replay`: replays a recorded session. Returns 1 if the replay differs. */
export async function replay(cli: Cli, given: string, flags: { current: boolean; json: boolean }): Promise<number> {
  const { home, env, terminal, composition } = cli;
  const session = await withArchive(cli, (archive) => resolveSessionId(archive, given));
  const replayed = await composition.replay({ home, session, current: flags.current, env });
  if (flags.json) terminal.out.line(jsonLine(replayed));
  else for (const line of accountOf(replayed)) terminal.out.line(line);
  return replayed.same ? 0 : 1;
}

function accountOf(replayed: Replayed): string[] {
  const { divergence, settled } = replayed;
  if (!divergence) return [`same: ${countsOf(replayed)}${settled ? "" : "; the session has not settled"}`];
  const { message, path, recorded, now, paths } = divergence;
  const values = path === null ? [] : valuesOf(recorded, now);
  const others = paths.slice(1);
  return [
    `different after ${countsOf(replayed)}:`,
    cleanLine(message),
    ...values,
    ...(others.length > 0 ? [`  also:     ${cleanLine(listOf(others))}`] : []),
  ];
}

function countsOf({ turns, runs, modelCalls, toolCalls }: Replayed): string {
  const counts: [number, string][] = [
    [runs, "run"],
    [modelCalls, "model call"],
    [toolCalls, "tool call"],
  ];
  if (turns > 1) counts.unshift([turns, "turn"]);
  return counts.map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`).join(", ");
}

const shownMax = 8;

function listOf(paths: readonly string[]): string {
  const more = paths.length > shownMax ? `, and ${paths.length - shownMax} more` : "";
  return paths.slice(0, shownMax).join(", ") + more;
}

/** The recorded and the replayed value, from shortly before their first difference. */
function valuesOf(recorded: Json, now: Json): string[] {
  const [before, after] = [textOf(recorded), textOf(now)];
  let part = 0;
  while (part < before.length && before[part] === after[part]) part += 1;
  const from = Math.max(0, part - aroundCharacters);
  return [`  recorded: ${excerpt(before, from)}`, `  now:      ${excerpt(after, from)}`];
}

const aroundCharacters = 40;
const excerptCharacters = 160;

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function excerpt(text: string, from: number): string {
  const end = from + excerptCharacters;
  const shown = cleanText(text.slice(from, end)).replaceAll("\n", "⏎");
  return `${from > 0 ? "…" : ""}${shown}${text.length > end ? "…" : ""}`;
}
