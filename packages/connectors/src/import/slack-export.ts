import type { Readable } from "node:stream";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { z } from "zod";
import { addChannelMessage, putChannel, putMember } from "../local/channels/channel-store.ts";
import type { LocalAccount } from "../local/local-account.ts";
import type { ChannelUser } from "../ports/channels.ts";
import { toLine } from "../ports/person.ts";
import { addProblem, countRow, type ImportedFile } from "./import-report.ts";
import { type SlackNames, slackText } from "./slack-text.ts";

const entriesMax = 200_000;
const entryBytesMax = 50_000_000;
const totalBytesMax = 2_000_000_000;

/** Members, channels and messages of an export of Slack. Nothing is unpacked to the disk. */
export async function importSlack(path: string, { database }: LocalAccount, report: ImportedFile): Promise<void> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: true });
  try {
    const entries = await readEntries(zip);
    const names = await readNames(zip, entries);
    if (names.channelIds.size === 0)
      throw new Error("has no channels.json with channels: it is not an export of Slack");
    database.transaction(() => {
      for (const [name, id] of names.channelIds) putChannel(database, { id, name });
      for (const member of names.members) putMember(database, member);
    });
    for (const [name, entry] of entries) {
      const [, channel = ""] = /^([^/]+)\/\d{4}-\d\d-\d\d\.json$/.exec(name) ?? [];
      const id = names.channelIds.get(channel);
      if (id === undefined) continue;
      try {
        const messages = await readJson(zip, entry, z.array(z.unknown()));
        database.transaction(() => storeDay(messages, { channel: id, names, where: name }, database, report));
      } catch (thrown) {
        addProblem(report, name, thrown);
      }
    }
  } finally {
    zip.close();
  }
}

/** The list of files, which is checked as a whole before any of them is read. */
async function readEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > entriesMax) throw new Error(`has ${zip.entryCount} files, and at most ${entriesMax} are read`);
  const entries = new Map<string, Entry>();
  let totalBytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  zip.on("error", reject);
  zip.on("end", resolve);
  zip.on("entry", (entry: Entry) => {
    totalBytes += entry.uncompressedSize;
    if (totalBytes > totalBytesMax) return reject(new Error("is larger than 2 GB when it is unpacked"));
    if (entry.fileName.endsWith(".json")) entries.set(entry.fileName, entry);
    zip.readEntry();
  });
  zip.readEntry();
  await promise;
  return entries;
}

/** Reads one file. The library fails if it is larger than its entry says. */
async function readJson<Schema extends z.ZodType>(
  zip: ZipFile,
  entry: Entry,
  schema: Schema,
): Promise<z.output<Schema>> {
  if (entry.uncompressedSize > entryBytesMax) throw new Error("is larger than 50 MB");
  const stream: Readable = await zip.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return schema.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
}

const Named = z.array(z.object({ id: z.string().max(100), name: z.string().max(200).nullish() }));
const Profile = z.object({
  real_name: z.string().nullish(),
  display_name: z.string().nullish(),
  email: z.string().nullish(),
  title: z.string().nullish(),
});
const User = z.object({
  id: z.string().max(100),
  name: z.string().nullish(),
  real_name: z.string().nullish(),
  tz: z.string().nullish(),
  is_bot: z.boolean().nullish(),
  profile: Profile.nullish(),
});

interface ExportNames extends SlackNames {
  members: ChannelUser[];
  /** Ids by name: the folders of an export are named after channels. */
  channelIds: Map<string, string>;
}

async function readNames(zip: ZipFile, entries: ReadonlyMap<string, Entry>): Promise<ExportNames> {
  const channelIds = new Map<string, string>();
  for (const file of ["channels.json", "groups.json", "mpims.json", "dms.json"]) {
    const entry = entries.get(file);
    const channels = entry ? await readJson(zip, entry, Named) : [];
    for (const { id, name } of channels) channelIds.set(toLine(name ?? id, 100), id);
  }
  const users = entries.get("users.json");
  const members = users ? (await readJson(zip, users, z.array(User))).map(toMember) : [];
  const handles = new Map(members.map(({ id, handle }) => [id, handle]));
  return { members, channelIds, handles, channels: new Map([...channelIds].map(([name, id]) => [id, name])) };
}

function toMember({ id, name, real_name, tz, is_bot, profile }: z.output<typeof User>): ChannelUser {
  const handle = toLine(profile?.display_name || name || id, 100);
  return {
    id,
    handle,
    name: toLine(real_name || profile?.real_name || handle, 200),
    email: profile?.email ? toLine(profile.email, 254).toLowerCase() : null,
    title: profile?.title ? toLine(profile.title, 200) : null,
    timeZone: tz ? toLine(tz, 60) : null,
    isBot: is_bot ?? false,
  };
}

const SlackMessage = z.object({
  type: z.literal("message"),
  ts: z.string().regex(/^\d{1,12}\.\d{1,9}$/, "is not a time"),
  thread_ts: z.string().nullish(),
  user: z.string().max(100).nullish(),
  bot_id: z.string().max(100).nullish(),
  username: z.string().nullish(),
  text: z.string().nullish(),
  reactions: z.array(z.object({ name: z.string(), count: z.number() })).nullish(),
});

interface DayScope {
  channel: string;
  names: ExportNames;
  where: string;
}

function storeDay(
  messages: readonly unknown[],
  { channel, names, where }: DayScope,
  database: LocalAccount["database"],
  report: ImportedFile,
): void {
  for (const [i, raw] of messages.entries()) {
    const parsed = SlackMessage.safeParse(raw);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      addProblem(report, `${where}, message ${i + 1}`, `${issue?.path.join(".")}: ${issue?.message}`);
      continue;
    }
    const { ts, thread_ts, user, bot_id, username, text, reactions } = parsed.data;
    const isNew = addChannelMessage(database, {
      id: ts,
      channel,
      author: user ?? bot_id ?? toLine(username ?? "unknown", 100),
      text: slackText(text ?? "", names),
      sentMs: Math.round(Number(ts) * 1_000),
      thread: thread_ts && thread_ts !== ts ? thread_ts : null,
      reactions: (reactions ?? []).map(({ name, count }) => ({ name: toLine(name, 100), count })),
    });
    countRow(report, "channelMessages", isNew);
  }
}
