import type { FetchMessageObject } from "imapflow";
import { z } from "zod";
import { wrongCursor } from "../../local/database/cursor.ts";
import { type MailFolder, type MailQuery, type MailSummary, mailFolders } from "../../ports/mail.ts";
import type { Page } from "../../ports/page.ts";
import type { CheckedAccount } from "../standard-options.ts";
import { isWithinSpan, toImapSearch } from "./imap-query.ts";
import type { ImapSession, OpenedFolder } from "./imap-session.ts";
import { parseMailId } from "./mail-ids.ts";
import { countAttachments, previewBytes, toListed } from "./read-mail.ts";

type MailSearch = z.output<typeof MailQuery>;

/** Uids before which the next page begins, by folder, with the number of the folder's uids. */
const Positions = z.partialRecord(z.enum(mailFolders), z.tuple([z.string(), z.int().min(0)]));
type Positions = z.infer<typeof Positions>;

/** Messages that one page looks at: a condition that the server cannot check must not read a whole mailbox. */
const examinedMax = 2_000;

interface Hit {
  uid: number;
  sentMs: number;
}

/** The hits of one folder, the newest first. */
interface FolderHits {
  opened: OpenedFolder;
  hits: Hit[];
  /** The uid before which the folder was not examined. 0: all of it was. */
  rest: number;
}

/** Newest arrivals first. Within a folder they have the order of their arrival, and the folders are merged by time. */
export async function searchMail(
  account: CheckedAccount,
  session: ImapSession,
  query: MailSearch,
): Promise<Page<MailSummary>> {
  const positions = query.cursor === null ? {} : readCursor(query.cursor);
  const folders = mailFolders.filter(
    (folder) => session.paths.has(folder) && (query.folder === null || query.folder === folder),
  );
  const found: FolderHits[] = [];
  for (const folder of folders) {
    found.push(await session.within(folder, (opened) => findHits(session, opened, query, positions[folder] ?? null)));
  }
  const next: Positions = {};
  for (const { opened, hits, rest } of found) {
    const [first] = hits;
    next[opened.folder] = [opened.uidValidity, first ? first.uid + 1 : rest];
  }
  const taken = takeNewest(found, query.limit, next);
  const items = new Map<string, MailSummary>();
  for (const { opened } of found) {
    const uids = taken.filter(({ folder }) => folder === opened.folder).map(({ uid }) => uid);
    for (const [uid, item] of await readListed(account, session, opened.folder, uids)) {
      items.set(`${opened.folder} ${uid}`, item);
    }
  }
  const isEnd = Object.values(next).every(([, before]) => before === 0);
  return {
    items: taken.flatMap(({ folder, uid }) => items.get(`${folder} ${uid}`) ?? []),
    nextCursor: isEnd ? null : Buffer.from(JSON.stringify(next)).toString("base64url"),
  };
}

function readCursor(cursor: string): Positions {
  try {
    return Positions.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch {
    throw wrongCursor(cursor);
  }
}

async function findHits(
  { client }: ImapSession,
  opened: OpenedFolder,
  query: MailSearch,
  position: [string, number] | null,
): Promise<FolderHits> {
  if (position && position[0] !== opened.uidValidity) throw wrongCursor(query.cursor ?? "");
  const before = position?.[1] ?? Number.MAX_SAFE_INTEGER;
  const uids = before === 0 ? [] : await searchUids(client, opened, query);
  const waiting = uids.filter((uid) => uid < before).toSorted((a, b) => b - a);
  const hits: Hit[] = [];
  let examined = 0;
  while (hits.length <= query.limit && examined < Math.min(waiting.length, examinedMax)) {
    const chunk = waiting.slice(examined, examined + query.limit + 1);
    examined += chunk.length;
    const fields = { uid: true, envelope: true, internalDate: true, bodyStructure: true };
    const fetched = await client.fetchAll(chunk, fields, { uid: true });
    const matching = fetched.map(toHit).filter((hit) => isWithinSpan(hit.sentMs, query) && hasWanted(hit, query));
    hits.push(...matching.toSorted((a, b) => b.uid - a.uid));
  }
  const following = waiting[examined];
  return { opened, hits, rest: following === undefined ? 0 : following + 1 };
}

/** The thread of a message without a Message-ID is named by the message's id. */
async function searchUids(client: ImapSession["client"], opened: OpenedFolder, query: MailSearch): Promise<number[]> {
  const alone = query.thread === null ? null : parseMailId(query.thread);
  if (alone) return alone.folder === opened.folder && alone.uidValidity === opened.uidValidity ? [alone.uid] : [];
  return (await client.search(toImapSearch(query), { uid: true })) || [];
}

function toHit({ uid, envelope, internalDate, bodyStructure }: FetchMessageObject): Hit & { attachments: number } {
  const dates = [envelope?.date, internalDate].map((date) => new Date(date ?? Number.NaN).getTime());
  return {
    uid,
    sentMs: dates.find((date) => !Number.isNaN(date)) ?? 0,
    attachments: bodyStructure ? countAttachments(bodyStructure) : 0,
  };
}

function hasWanted({ attachments }: { attachments: number }, { hasAttachment }: MailSearch): boolean {
  return hasAttachment === null || attachments > 0 === hasAttachment;
}

/** Takes the newest heads of all folders, and writes into `next` where each folder goes on. */
function takeNewest(
  found: readonly FolderHits[],
  limit: number,
  next: Positions,
): { folder: MailFolder; uid: number }[] {
  const taken: { folder: MailFolder; uid: number }[] = [];
  const heads = found.map(() => 0);
  while (taken.length < limit) {
    let newest = -1;
    for (const [i, { hits }] of found.entries()) {
      const head = hits[heads[i] ?? 0];
      const best = found[newest]?.hits[heads[newest] ?? 0];
      if (head && (!best || head.sentMs > best.sentMs)) newest = i;
    }
    const from = found[newest];
    const hit = from?.hits[heads[newest] ?? 0];
    if (!from || !hit) break;
    heads[newest] = (heads[newest] ?? 0) + 1;
    taken.push({ folder: from.opened.folder, uid: hit.uid });
    const following = from.hits[heads[newest] ?? 0];
    next[from.opened.folder] = [from.opened.uidValidity, following ? following.uid + 1 : from.rest];
  }
  return taken;
}

async function readListed(
  account: CheckedAccount,
  session: ImapSession,
  folder: MailFolder,
  uids: readonly number[],
): Promise<Map<number, MailSummary>> {
  if (uids.length === 0) return new Map();
  return session.within(folder, async (opened) => {
    const fields = { uid: true, flags: true, internalDate: true, bodyStructure: true };
    const fetched = await session.client.fetchAll(
      [...uids],
      { ...fields, source: { maxLength: previewBytes } },
      { uid: true },
    );
    const listed = await Promise.all(
      fetched.map(async (each) => [each.uid, await toListed(account, opened, each)] as const),
    );
    return new Map(listed);
  });
}
