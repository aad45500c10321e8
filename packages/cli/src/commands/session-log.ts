import type { ConversationPage } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { conversationLines } from "../render/conversation.ts";
import { type Archive, withArchive } from "../session/archive.ts";
import { resolveRunOf, resolveSession } from "../session/resolve-ids.ts";
import type { Output } from "../terminal/terminal.ts";

const entriesPerPage = 200;

/**
 * `troupe sessions show --log`: prints the conversation of one run, or of the first run of each turn. `--json` prints one
 * object with all parts.
 */
export async function showLog(
  cli: Cli,
  { session: given, run }: { session: string; run: string | null },
  flags: { json: boolean },
): Promise<number> {
  const { out } = cli.terminal;
  return withArchive(cli, async (archive) => {
    const { session } = await resolveSession(archive, given);
    const runs = run === null ? await turnsOf(archive, session) : [await resolveRunOf(archive, run, session)];
    if (flags.json) {
      const conversations = await Promise.all(runs.map((id) => wholeConversation(archive, id)));
      out.line(jsonLine({ session, conversations: conversations.filter((found) => found !== null) }));
    } else for (const id of runs) await printConversation(archive, id, out);
    return 0;
  });
}

/** Prints page by page, so that a long conversation needs little memory. */
async function printConversation(archive: Archive, run: string, out: Output): Promise<void> {
  let hasHead = false;
  for await (const page of pagesOf(archive, run)) {
    const head = `── ${cleanLine(describeAgent(page))}  run ${page.run}  ${cleanLine(page.status)}`;
    if (!hasHead) for (const line of [out.colours.bold(head), ""]) out.line(line);
    hasHead = true;
    for (const line of page.items.flatMap((item) => conversationLines(item, out))) out.line(line);
  }
}

/** The first run of each turn of a session, in order. */
async function turnsOf(archive: Archive, session: string): Promise<string[]> {
  const runs = (await archive.session(session))?.runs ?? [];
  return runs.filter(({ parentRun }) => parentRun === null).map(({ run }) => run);
}

async function* pagesOf({ queries }: Archive, run: string): AsyncGenerator<ConversationPage> {
  for (let from = 0; ; ) {
    const page = await queries.conversation(run, { from, limit: entriesPerPage });
    if (page === null) return;
    yield page;
    if (!page.more) return;
    from = page.next;
  }
}

async function wholeConversation(archive: Archive, run: string): Promise<ConversationPage | null> {
  let whole: ConversationPage | null = null;
  for await (const page of pagesOf(archive, run)) {
    whole = whole === null ? page : { ...page, items: [...whole.items, ...page.items] };
  }
  return whole;
}
