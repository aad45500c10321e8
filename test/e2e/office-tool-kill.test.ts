/**
 * A process is killed right after its mail tool has sent, before the outcome is in the journal. The next host runs the call
 * again with the same key: one mail exists, and the outcome is that of the first try.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { openLocalOffice } from "@troupe/connectors";
import { ensureMailbox, putChannel, putMember } from "@troupe/connectors/internal";
import { describe, expect, it } from "vitest";
import { cleanEnv } from "../harness/clean-env.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { finishCall } from "./office-tool-program.ts";

const program = path.join(import.meta.dirname, "office-tool-program.ts");

/** Runs the program until it dies. Returns the signal. */
async function die(folder: string, tool: string): Promise<unknown> {
  const child = spawn(process.execPath, [program, folder, tool], { env: cleanEnv(folder), stdio: "inherit" });
  const [, signal] = await once(child, "close");
  return signal;
}

describe("a process that is killed between the act of a tool and its outcome", () => {
  it.for(["gmail_send_email", "calendar_create_event", "slack_post_message"])(
    "%s: the next process acts no second time, and has the first result",
    { timeout: 180_000 },
    async (tool, test) => {
      const folder = await tempFolder("office-tool-kill", test);
      const user = { name: "Kim", address: "kim@lantern.example" };
      const office = openLocalOffice({ folder: path.join(folder, "office"), user, timeZone: "Etc/UTC" });
      test.onTestFinished(() => office.close());
      ensureMailbox(office.account.database, { name: "Mara", address: "mara@lantern.example" });
      putChannel(office.account.database, { id: "general", name: "general" });
      const member = { id: "me", handle: "kim", name: "Kim", email: user.address, title: null, timeZone: null };
      putMember(office.account.database, { ...member, isBot: false });

      expect(await die(folder, tool)).toBe("SIGKILL");
      const acted = await actsOf(office);
      expect(acted).toHaveLength(1);

      const { calls, output } = await finishCall(folder, tool);
      expect(await actsOf(office)).toEqual(acted);
      // The event is found by its key. A mail and a message are handed to the connector again, which returns the first one.
      expect(calls).toBe(tool === "calendar_create_event" ? 1 : 2);
      expect(output.message_id ?? output.event_id).toBe(acted[0]);
    },
  );
});

/** Ids of everything that the calls made. */
async function actsOf(office: ReturnType<typeof openLocalOffice>): Promise<string[]> {
  const span = { from: "2030-01-01T00:00:00Z", to: "2030-12-31T00:00:00Z" };
  const found = await Promise.all([
    office.mail.searchMessages({ folder: "sent" }),
    office.calendar.listEvents(span),
    office.channels.searchMessages({}),
  ]);
  return found.flatMap(({ items }) => items.map(({ id }) => id));
}
