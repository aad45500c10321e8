import {
  factsOf,
  iso,
  printable,
  shortLine,
  type Transcript,
  type TranscriptCall,
  type TranscriptRun,
} from "./transcript.ts";

/**
 * The whole conversation of all runs as Markdown. Everything that an agent, a tool or a person wrote is in a code fence, so
 * that no text can be a heading, an image or HTML.
 */
export function* toMarkdown({ session, task, forkedFrom, runs }: Transcript): Generator<string> {
  yield `# Session ${session}\n`;
  if (forkedFrom) yield `Forked from session ${forkedFrom.session}, run ${forkedFrom.run}, step ${forkedFrom.step}.\n`;
  yield `${fenced(task)}\n`;
  yield "## Runs\n";
  for (const run of runs) yield `${"  ".repeat(run.request.depth)}- [${describe(run)}](#run-${run.request.run})`;
  for (const run of runs) yield* runSection(run);
}

function describe({ request, response }: TranscriptRun): string {
  return `${request.agent}, ${response?.status ?? "not settled"}`;
}

function* runSection(run: TranscriptRun): Generator<string> {
  const { request, response, events } = run;
  yield `\n<a id="run-${request.run}"></a>\n\n## ${describe(run)}\n`;
  yield `| | |\n| --- | --- |`;
  for (const [name, value] of factsOf(run)) yield `| ${name} | ${cell(value)} |`;
  if (request.parent) yield `\nDelegated by run [${request.parent.run}](#run-${request.parent.run}).`;
  yield `\n### Task\n\n${fenced(request.task)}`;
  if (request.context) yield `\nContext:\n\n${fenced(request.context)}`;
  for (const event of events) {
    if (event.kind === "note") yield `\n*${iso(event.atMs)}*\n\n${fenced(event.text)}`;
    if (event.kind === "said") yield `\n### A person · ${iso(event.atMs)}\n\n${fenced(`${event.by}: ${event.text}`)}`;
    if (event.kind !== "reply") continue;
    yield `\n### Step ${event.entry.step} · ${iso(event.atMs)}\n`;
    if (event.entry.reply.text.trim() !== "") yield fenced(event.entry.reply.text);
    for (const call of event.calls) yield* callSection(call);
  }
  if (response) yield `\n### Answer · ${response.status}\n\n${fenced(response.details || response.summary)}`;
  for (const warning of response?.warnings ?? []) yield `\nWarning:\n\n${fenced(warning)}`;
}

function* callSection({ name, args, result, children }: TranscriptCall): Generator<string> {
  yield `\nCall:\n\n${fenced(`${name} ${JSON.stringify(args, null, 2)}`)}`;
  for (const child of children) yield `\nRun: [${child}](#run-${child})`;
  if (!result) yield "\nNo outcome is recorded.";
  else yield `\n${result.isError ? "Error" : "Result"}, ${Math.round(result.durationMs)} ms:\n\n${fenced(result.text)}`;
}

/** A fence that is longer than every run of backticks in the text. */
function fenced(text: string): string {
  const safe = printable(text);
  const longest = Math.max(2, ...(safe.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${safe.replace(/\n$/, "")}\n${fence}`;
}

function cell(text: string): string {
  return shortLine(text, 200).replace(/[\\|<>[\]`*_!&]/g, "\\$&");
}
