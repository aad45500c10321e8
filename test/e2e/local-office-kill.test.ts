/**
 * A process is killed between a send and its outcome. The next process sends again with the same key: there is one mail and
 * one event for each key, and the delivery status by the key tells the truth.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { openLocalOffice } from "@troupe/connectors";
import { ensureMailbox } from "@troupe/connectors/internal";
import { describe, expect, it } from "vitest";
import { cleanEnv } from "../harness/clean-env.ts";
import { isLong } from "../harness/long.ts";
import { seededRandom } from "../harness/seeded-random.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const sender = join(import.meta.dirname, "office-sender.ts");
const user = { name: "Me", address: "me@acme.example" };
const dee = { name: "Dee", address: "dee@acme.example" };
const keys = isLong ? 40 : 16;
const killsMin = isLong ? 5 : 3;

/** Runs the sender from a key on, and kills it within the work on a key. Returns the last key that it reported. */
async function sendUntilKilled(folder: string, from: number, reports: number, death = keys): Promise<number> {
  const child = spawn(process.execPath, [sender, folder, `${from}`, `${keys}`, `${death}`], {
    env: cleanEnv(folder),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = from - 1;
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => {
    text += bytes;
    const lines = text.split("\n").slice(0, -1);
    last = Number(lines.at(-1) ?? from - 1);
    // The child is at work on the next key now.
    if (lines.length >= reports) child.kill("SIGKILL");
  });
  await once(child, "close");
  return last;
}

async function everySubject(office: ReturnType<typeof openLocalOffice>): Promise<string[]> {
  const subjects: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await office.mail.searchMessages({ limit: 100, cursor });
    subjects.push(...page.items.map(({ subject }) => subject));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return subjects.toSorted();
}

describe("a local office whose process is killed", () => {
  it("has one mail and one event for each key, after each key was sent again", async (test) => {
    const folder = await tempFolder("office-kill", test);
    const setup = openLocalOffice({ folder, user, timeZone: "Etc/UTC" });
    ensureMailbox(setup.account.database, dee);
    setup.close();
    const random = seededRandom(17);
    // The mail of this key was sent, and the process died before it could tell.
    let next = 1 + (await sendUntilKilled(folder, 0, keys, 3));
    expect(next).toBe(3);
    const doubtful = openLocalOffice({ folder });
    expect(await doubtful.mail.deliveryStatus({ idempotencyKey: "key 3" })).toMatchObject({ status: "delivered" });
    doubtful.close();
    let kills = 1;
    // On a busy machine several reports arrive at once, and the child gets further than was asked.
    while (next < keys) {
      const last = await sendUntilKilled(folder, next, 1 + Math.floor(random() * (isLong ? 6 : 3)));
      if (last + 1 < keys) kills += 1;
      // The outcome of the next key is in doubt: the child may have sent it without a report.
      next = last + 1;
    }
    expect(kills).toBeGreaterThanOrEqual(killsMin);

    const expected = Array.from({ length: keys }, (_, i) => `Mail ${i}`).toSorted();
    for (const person of [user, dee]) {
      const office = openLocalOffice({ folder, user: person });
      expect(await everySubject(office)).toEqual(expected);
      office.close();
    }
    const office = openLocalOffice({ folder });
    const window = { from: "2026-03-03T00:00:00Z", to: "2026-03-04T00:00:00Z", limit: 100 };
    expect((await office.calendar.listEvents(window)).items).toHaveLength(keys);
    for (let i = 0; i < keys; i += 1) {
      expect(await office.mail.deliveryStatus({ idempotencyKey: `key ${i}` })).toMatchObject({ status: "delivered" });
    }
    expect(await office.mail.deliveryStatus({ idempotencyKey: `key ${keys}` })).toBeNull();
    office.close();
  });
});
