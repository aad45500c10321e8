/**
 * A process that sends through Google is killed within its calls: before the server carries one out, and after it did but
 * before the answer. The next process sends again with the same key: there is one mail and one event for each key.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { openConnectionStore } from "@troupe/connectors";
import { describe, expect, it } from "vitest";
import { cleanEnv } from "../harness/clean-env.ts";
import { connectAccount } from "../harness/google-server/connect-account.ts";
import { startGoogleServer } from "../harness/google-server/start-google-server.ts";
import { casesOf } from "../harness/long.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { sendKeys } from "./google-sender.ts";

const sender = join(import.meta.dirname, "google-sender.ts");
const keys = 8;

/** The calls between a key and its outcome. The index of mails matters for a mail that is made or sent. */
const allDeaths = [
  { on: "POST /gmail/v1/users/me/drafts", fault: "lose-answer", needsIndex: true },
  { on: "POST /gmail/v1/users/me/drafts/send", fault: "drop", needsIndex: false },
  { on: "POST /gmail/v1/users/me/drafts/send", fault: "lose-answer", needsIndex: true },
  { on: "GET /gmail/v1/users/me/threads/", fault: "drop", needsIndex: false },
  { on: "POST /calendar/v3/calendars/primary/events", fault: "lose-answer", needsIndex: false },
] as const;

describe("a process that sends through Google and is killed", () => {
  it.for([{ isIndexBehind: false }, { isIndexBehind: true }])(
    "leaves one mail and one event for each key, with an index that is behind: $isIndexBehind",
    async ({ isIndexBehind }, test) => {
      const home = await tempFolder("google-kill", test);
      const server = await startGoogleServer();
      test.onTestFinished(() => server[Symbol.asyncDispose]());
      server.gmail.isIndexBehind = isIndexBehind;
      await connectAccount(server, openConnectionStore(home), { name: "Me", address: "me@acme.example" });

      // An index that is behind is the harder case, so it has them all in the normal run too.
      const deaths = casesOf(allDeaths, ({ needsIndex }) => needsIndex || isIndexBehind);
      let next = 0;
      let kills = 0;
      while (kills < deaths.length) {
        const child = spawn(process.execPath, [sender, home, `${next}`, `${keys}`], {
          env: cleanEnv(home),
          stdio: ["ignore", "pipe", "inherit"],
        });
        let text = "";
        child.stdout.on("data", (bytes: Buffer) => {
          text += bytes;
        });
        const { on = "", fault = "drop" } = deaths[kills] ?? {};
        server.fail({ on, fault, after: kills % 2, onHit: () => child.kill("SIGKILL") });
        const [, signal] = await once(child, "close");
        expect(signal).toBe("SIGKILL");
        kills += 1;
        next += text.split("\n").length - 1;
      }
      await sendKeys(home, next, keys, () => {});
      const expected = Array.from({ length: keys }, (_, i) => `Mail ${i}`);
      expect(server.gmail.sent.map(({ subject }) => subject).toSorted()).toEqual(expected);
      expect(server.calendar.events.size).toBe(keys);
      expect(server.gmail.mailboxOf("me@acme.example").drafts).toEqual([]);
    },
  );
});
