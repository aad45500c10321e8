import {
  factsOf,
  iso,
  printable,
  shortLine,
  type Transcript,
  type TranscriptCall,
  type TranscriptRun,
} from "./transcript.ts";

/** No script, no request: the page is safe to open and complete on paper. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --bad: #b3261e; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { font: 0.85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--soft);
  border: 1px solid var(--line); border-radius: 4px; padding: 0.6rem 0.8rem; margin: 0.4rem 0; }
.said { font: inherit; background: none; border: 0; border-left: 3px solid var(--line); border-radius: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0.5rem 0; }
dt, time, .label { opacity: 0.75; font-size: 0.85rem; } dd { margin: 0; overflow-wrap: anywhere; }
section { border-top: 2px solid var(--line); margin-top: 2rem; }
.error { border-left: 3px solid var(--bad); }
h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; } h3 { font-size: 1rem; margin-bottom: 0.2rem; }
@media print {
  :root { color-scheme: light; } body { font-size: 10pt; max-width: none; margin: 0; } a { color: inherit; }
  pre { font-size: 8.5pt; background: none; } h1, h2, h3, .label { break-after: avoid; } section { break-before: page; }
}
@page { margin: 18mm; }`;

/** The whole conversation of all runs as one HTML file. All text is escaped. */
export function* toHtml({ session, task, forkedFrom, runs }: Transcript): Generator<string> {
  const title = `Session ${session.slice(0, 13)}: ${shortLine(task, 80)}`;
  yield `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">`;
  yield `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  yield `<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>${escaped(title)}</title>`;
  yield `<style>${style}\n</style>\n</head>\n<body>\n<h1>Session ${escaped(session)}</h1>`;
  if (forkedFrom) {
    yield `<p>Forked from session ${escaped(forkedFrom.session)}, run ${escaped(forkedFrom.run)}, step ${forkedFrom.step}.</p>`;
  }
  yield block(task, "said");
  yield "<h2>Runs</h2>\n<ul>";
  for (const run of runs) {
    const { run: id, depth } = run.request;
    yield `<li style="margin-left:${depth * 1.5}rem"><a href="#run-${escaped(id)}">${escaped(describe(run))}</a></li>`;
  }
  yield "</ul>";
  for (const run of runs) yield* runSection(run);
  yield "</body>\n</html>";
}

function describe({ request, response }: TranscriptRun): string {
  return `${request.agent}, ${response?.status ?? "not settled"}`;
}

function* runSection(run: TranscriptRun): Generator<string> {
  const { request, response, events } = run;
  yield `<section id="run-${escaped(request.run)}">\n<h2>${escaped(describe(run))}</h2>\n<dl>`;
  for (const [name, value] of factsOf(run)) yield `<dt>${name}</dt><dd>${escaped(value)}</dd>`;
  if (request.parent) yield `<dt>delegated by</dt><dd>${link(request.parent.run)}</dd>`;
  yield `</dl>\n<h3>Task</h3>\n${block(request.task, "said")}`;
  if (request.context) yield `<p class="label">Context</p>\n${block(request.context)}`;
  for (const event of events) {
    if (event.kind === "note") yield `<p class="label">${time(event.atMs)}</p>\n${block(event.text)}`;
    if (event.kind === "said") yield `<h3>${escaped(event.by)} ${time(event.atMs)}</h3>\n${block(event.text, "said")}`;
    if (event.kind !== "reply") continue;
    yield `<h3>Step ${event.entry.step} ${time(event.atMs)}</h3>`;
    if (event.entry.reply.text.trim() !== "") yield block(event.entry.reply.text, "said");
    for (const call of event.calls) yield* callSection(call);
  }
  if (response)
    yield `<h3>Answer: ${escaped(response.status)}</h3>\n${block(response.details || response.summary, "said")}`;
  for (const warning of response?.warnings ?? []) yield `<p class="label">Warning</p>\n${block(warning, "error")}`;
  yield "</section>";
}

function* callSection({ name, args, result, children }: TranscriptCall): Generator<string> {
  yield `<p class="label">Call of ${escaped(name)}</p>\n${block(JSON.stringify(args, null, 2))}`;
  for (const child of children) yield `<p class="label">Run ${link(child)}</p>`;
  if (!result) yield '<p class="label">No outcome is recorded.</p>';
  else {
    yield `<p class="label">${result.isError ? "Error" : "Result"}, ${Math.round(result.durationMs)} ms</p>`;
    yield block(result.text, result.isError ? "error" : undefined);
  }
}

function block(text: string, kind?: "said" | "error"): string {
  return `<pre${kind ? ` class="${kind}"` : ""}>\n${escaped(text)}</pre>`;
}

function link(run: string): string {
  return `<a href="#run-${escaped(run)}">${escaped(run)}</a>`;
}

function time(atMs: number): string {
  return `<time>${iso(atMs)}</time>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
