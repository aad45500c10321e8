import { resolve } from "node:path";
import { type FeedItem, type Redactor, TroupeError } from "@troupe/core";
import { exportLines, readTranscript, toHtml, toMarkdown, toMermaid, toOtlp } from "@troupe/recorder";
import { createHomeRedactor } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { withArchive } from "../session/archive.ts";
import { resolveSessionId } from "../session/resolve-ids.ts";
import { printLines, writeLines } from "../session/write-file.ts";

export interface ExportFlags {
  format: "jsonl" | "md" | "html" | "otlp" | "mermaid";
  /** Null: standard output. */
  out: string | null;
  force: boolean;
  /** Prints the path as JSON; only for a file. */
  json: boolean;
}

/** `troupe sessions export`: writes a session as a file. */
export async function exportSession(cli: Cli, given: string, flags: ExportFlags): Promise<number> {
  const { format, out, force, json } = flags;
  if (json && out === null) {
    throw new TroupeError("USAGE", "without --out the session itself is printed, so --json has no place for its line", {
      fix: `troupe sessions export ${cleanLine(given)} --out FILE --json`,
    });
  }
  const session = await withArchive(cli, (archive) => resolveSessionId(archive, given));
  const feed = await cli.composition.readFeed(cli.home, session);
  if (feed.length === 0) {
    throw new TroupeError("UNKNOWN_SESSION", `this home has no session ${session}`, { fix: "troupe sessions ls" });
  }
  const redact = createHomeRedactor({ env: cli.env });
  const lines = linesOf(cli, { session, feed, format, redact });
  if (out === null) {
    await printLines(cli.terminal.out, lines);
    return 0;
  }
  const path = resolve(cli.cwd, out);
  await writeLines(path, lines, { force });
  if (json) cli.terminal.out.line(jsonLine({ session, format, path }));
  else cli.terminal.err.line(`wrote ${path}`);
  return 0;
}

interface Source {
  session: string;
  feed: readonly FeedItem[];
  format: ExportFlags["format"];
  redact: Redactor;
}

async function* linesOf(cli: Cli, { session, feed, format, redact }: Source): AsyncGenerator<string> {
  if (format === "jsonl") {
    checkSecrets(feed, redact, session);
    yield* exportLines({ session, feed, blobs: await cli.composition.openBlobs(cli.home), troupe: cli.version });
    return;
  }
  const transcript = readTranscript(feed, session);
  if (format === "otlp") yield escapeControls(redact.text(toOtlp(transcript, cli.version)));
  else for (const line of textLines[format](transcript)) yield redact.text(line);
}

const textLines = { md: toMarkdown, html: toHtml, mermaid: toMermaid };

/** JSON leaves C1 controls as they are, and a terminal would act on them. */
function escapeControls(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A secret that became known after the session cannot be removed without breaking the hash chain. */
function checkSecrets(feed: readonly FeedItem[], redact: Redactor, session: string): void {
  const found = feed.find(({ text }) => redact.text(text) !== text);
  if (!found) return;
  const what = found.kind === "entry" ? `entry ${found.index} of run ${found.run}` : `item ${found.seq} of the inbox`;
  throw new TroupeError("CONFLICT", `${what} contains a secret of your configuration, so it is not exported as jsonl`, {
    fix: `export it without the secret: troupe sessions export ${session} --format md`,
  });
}
