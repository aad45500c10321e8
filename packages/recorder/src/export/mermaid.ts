import { shortLine, type Transcript, type TranscriptCall, type TranscriptRun } from "./transcript.ts";

/** A larger diagram is refused by the page that draws it. */
const runsMax = 100;
const labelMax = 60;

/** The delegations of a session as a Mermaid sequence diagram, with the tools that each run called. */
export function* toMermaid({ task, runs }: Transcript): Generator<string> {
  const shown = runs.slice(0, runsMax);
  const names = new Map(shown.map(({ request }, i) => [request.run, `r${i}`]));
  yield "sequenceDiagram";
  yield "  actor user as a person";
  for (const { request } of shown) yield `  participant ${names.get(request.run)} as ${label(request.agent)}`;
  for (const run of shown.filter(({ request }) => request.parent === null)) {
    yield* drawRun({ run, caller: "user", runs: shown, names, task });
  }
  const left = runs.length - shown.length;
  if (left > 0) yield `  Note over user: ${label(`${left} more runs are not drawn`)}`;
}

interface Drawing {
  run: TranscriptRun;
  caller: string;
  runs: readonly TranscriptRun[];
  names: ReadonlyMap<string, string>;
  task: string;
}

function* drawRun({ run, caller, runs, names, task }: Drawing): Generator<string> {
  const name = names.get(run.request.run) ?? "user";
  yield `  ${caller}->>${name}: ${label(run.request.task || task)}`;
  for (const event of run.events) {
    if (event.kind === "said") yield `  user->>${name}: ${label(event.text)}`;
    if (event.kind !== "reply") continue;
    for (const call of event.calls) yield* drawCall(call, { caller: name, runs, names, task });
  }
  const { response } = run;
  if (response) yield `  ${name}-->>${caller}: ${label(`${response.status}. ${response.summary}`)}`;
}

/** The runs that a call started, or the call itself. */
function* drawCall(call: TranscriptCall, drawing: Omit<Drawing, "run">): Generator<string> {
  const { caller, runs } = drawing;
  const children = runs.filter(({ request }) => call.children.includes(request.run));
  for (const run of children) yield* drawRun({ ...drawing, run });
  const failed = call.result?.isError ? " failed" : "";
  if (children.length === 0) yield `  ${caller}->>${caller}: ${label(`${call.name}${failed}`)}`;
}

/**
 * Text that Mermaid cannot read as syntax: every other character becomes a code such as `#59;`. The word `end` closes blocks,
 * so its first letter is a code too.
 */
function label(text: string): string {
  const line = shortLine(text, labelMax) || "(empty)";
  return line
    .replace(/[^\p{L}\p{N} .,()_/-]/gu, (character) => `#${character.codePointAt(0)};`)
    .replace(/\b(e)(nd)\b/gi, (_, first: string, rest: string) => `#${first.codePointAt(0)};${rest}`);
}
