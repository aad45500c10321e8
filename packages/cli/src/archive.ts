import { type RunResponse, type SessionDetail, type SessionRow, TroupeError } from "@troupe/core";
import type { Cli } from "./cli.ts";
import { responseOrNull } from "./follow.ts";
import { refuseFile } from "./home.ts";
import { joinOwner, type Membership } from "./join.ts";
import { cleanLine } from "./render/clean.ts";
import { sessionOrNull } from "./submit.ts";

/** Sessions, read through the owner of the home, or from the record itself where nobody owns it. */
export interface Archive {
  /** Null: nobody runs, so what is not settled waits for the next start. */
  member: Membership | null;
  sessions(limit: number): Promise<SessionRow[]>;
  session(session: string): Promise<SessionDetail | null>;
  response(session: string): Promise<RunResponse | null>;
}

/** Opens the archive for as long as `use` takes. */
export async function withArchive<T>(cli: Cli, use: (archive: Archive) => Promise<T>): Promise<T> {
  await refuseFile(cli.home);
  const member = await joinOwner(cli);
  if (member) {
    const { client } = member;
    return use({
      member,
      sessions: async (limit) => (await client.sessions({ limit })).sessions,
      session: (session) => sessionOrNull(client, session),
      response: (session) => responseOrNull(client, session),
    });
  }
  const reader = await cli.composition.openReader(cli.home);
  try {
    return await use({
      member: null,
      sessions: async (limit) => (await reader?.sessions({ limit })) ?? [],
      session: async (session) => (await reader?.session(session)) ?? null,
      response: async (session) => (await reader?.response(session)) ?? null,
    });
  } finally {
    await reader?.close();
  }
}

/** As far back as a prefix is looked for. */
const searchedMax = 500;

/** The session that an id, or the beginning of exactly one id, stands for. */
export async function resolveSession(archive: Archive, given: string): Promise<SessionRow> {
  const wanted = given.toLowerCase();
  const whole = wanted.length === 36 ? await archive.session(wanted) : null;
  if (whole) return whole.session;
  const rows = wanted === "" ? [] : await archive.sessions(searchedMax);
  const [match, ...others] = rows.filter((row) => row.session.startsWith(wanted));
  if (!match) {
    throw new TroupeError("UNKNOWN_SESSION", `there is no session ${JSON.stringify(cleanLine(given))}`, {
      fix: "troupe sessions ls",
    });
  }
  if (others.length === 0) return match;
  const ids = [match, ...others].slice(0, 5).map((row) => row.session);
  const more = others.length >= ids.length ? "…" : "";
  throw new TroupeError(
    "USAGE",
    `"${cleanLine(given)}" stands for ${others.length + 1} sessions: ${ids.join(", ")}${more}`,
    {
      fix: `give more of the id: troupe sessions show ${match.session}`,
    },
  );
}

/** Ids cut so far that they still differ, and at a dash, so that they can be typed. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const length = [8, 13, 18, 23].find((each) => new Set(ids.map((id) => id.slice(0, each))).size === new Set(ids).size);
  return (id) => id.slice(0, length ?? id.length);
}
