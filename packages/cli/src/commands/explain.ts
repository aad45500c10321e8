import { TroupeError } from "@troupe/core";
import { didYouMean, type GrantDecision, type GrantExplanation } from "@troupe/core/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { type Cell, layout } from "../render/layout.ts";
import { withArchive } from "../session/archive.ts";
import { withControl } from "../session/control.ts";
import { resolveRun } from "../session/resolve-ids.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe explain`: shows the intent and status of a run, its granted tools and agents, and the layer that denies each other. */
export async function explain(cli: Cli, given: string, name: string | null, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const run = await withArchive(cli, (archive) => resolveRun(archive, given));
  const whole = await withControl(cli, (control) => control.explain(run));
  const explanation = name === null ? whole : { ...whole, verdicts: decisionsOn(whole, name) };
  if (flags.json) out.line(jsonLine(explanation));
  else for (const line of linesOf(explanation, out)) out.line(line);
  return 0;
}

function decisionsOn({ verdicts, run }: GrantExplanation, name: string): GrantDecision[] {
  const found = verdicts.filter((decision) => decision.name === name);
  if (found.length > 0) return found;
  const names = verdicts.map((decision) => cleanLine(decision.name));
  const known = names.join(", ") || "none";
  throw new TroupeError("USAGE", `there is no tool or agent ${JSON.stringify(cleanLine(name))}; available: ${known}`, {
    fix: didYouMean(name, names) ?? `troupe explain ${run}`,
  });
}

function linesOf(explanation: GrantExplanation, { width, colours }: Output): string[] {
  const { run, agent, layers, verdicts, context, workspace, taint } = explanation;
  const facts: [string, string][] = [
    ["run", run],
    ["agent", cleanLine(agent)],
    ...(context ? contextFacts(context) : []),
    ...(workspace === undefined ? [] : [["workspace", workspace] as [string, string]]),
    ...taintFacts(taint),
    ["layers", layers.map(cleanLine).join(" ∩ ")],
  ];
  const head = ["KIND", "NAME", "GRANTED", "WHY"].map((text): Cell => ({ text, paint: colours.dim }));
  const rows = verdicts.map(({ kind, name, granted, reason }): Cell[] => [
    { text: kind },
    { text: cleanLine(name), paint: colours.bold },
    granted ? { text: "✓ yes", paint: colours.green } : { text: "✗ no", paint: colours.red },
    { text: cleanLine(reason) },
  ]);
  return [
    ...layout(
      [{}, {}],
      facts.map(([name, text]) => [{ text: name, paint: colours.dim }, { text }]),
      width,
    ),
    "",
    ...layout([{}, {}, {}, { flexible: true }], [head, ...rows], width),
  ];
}

/** Untrusted and private sources that the run has read. */
function taintFacts(taint: GrantExplanation["taint"]): [string, string][] {
  if (!taint) return [];
  const facts: [string, readonly string[]][] = [
    ["untrusted", taint.untrusted],
    ["private", taint.private],
  ];
  return facts
    .filter(([, sources]) => sources.length > 0)
    .map(([name, sources]) => [name, cleanLine(sources.join(", "))]);
}

/** The intent of the run and how far it is. `--json` has all of it. */
function contextFacts(context: NonNullable<GrantExplanation["context"]>): [string, string][] {
  const { request, status, risk, expectedFormat, successCriteria, tools, notes, summary } = context;
  const facts: [string, string][] = [
    ["request", request],
    ["status", status],
    ["risk", risk],
    ["format", expectedFormat],
    ["done when", successCriteria],
    ["tools", tools.join(", ") || "none"],
    ...notes.map((note): [string, string] => ["note", note]),
    ["summary", summary ?? ""],
  ];
  return facts.filter(([, text]) => text !== "").map(([name, text]) => [name, cleanLine(text)]);
}
