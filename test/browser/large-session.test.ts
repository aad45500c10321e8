import path from "node:path";
import { openSqlite } from "@troupe/recorder/internal";
import { createClient } from "troupe/client";
import { it, type TestContext } from "vitest";
import { writeGeneratedRecord } from "../bench/record-rows.ts";
import { describeInChromium } from "../harness/chromium.ts";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { openPage } from "../harness/tab.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const runs = 1_000;
const pageBytesMax = 1024 * 1024;

/** A home whose record has a session of 1,000 runs, with tasks of 4,000 characters each. */
async function largeHome(test: TestContext): Promise<{ home: string; session: string }> {
  const home = await tempFolder("large-session", test);
  const file = path.join(home, "troupe.db");
  const { wideSession } = await writeGeneratedRecord(file, runs * 4);
  const database = openSqlite(file);
  database.exec(
    `UPDATE messages SET request_content = 'Part ' || (SELECT seen FROM runs WHERE message_id = messages.id) ||
       '. ' || replace(hex(zeroblob(2000)), '00', 'ab')
     WHERE id IN (SELECT message_id FROM runs);
     UPDATE runs SET parent_run = session_id WHERE parent_run IS NOT NULL`,
  );
  database.close();
  return { home, session: wideSession };
}

describeInChromium("a session of 1,000 runs with long texts", (browser) => {
  it("comes in pages of at most 1 MB, and is whole for a client, on the command line and on the page", {
    timeout: 300_000,
  }, async (test) => {
    const { expect } = test;
    const { home, session } = await largeHome(test);
    const daemon = await startDaemonInProcess({ home, test });
    const { url, token } = daemon;
    const sizes: number[] = [];
    for (let after = ""; sizes.length < 100; ) {
      const reply = await fetch(`${url}/api/v1/sessions/${session}${after}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const body = await reply.text();
      sizes.push(Buffer.byteLength(body));
      const { next } = JSON.parse(body);
      if (next === undefined) break;
      after = `?after=${encodeURIComponent(next)}`;
    }
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(pageBytesMax);
    const orders = Array.from({ length: runs }, (_, i) => i);
    const detail = await createClient({ url, token }).get(session);
    expect(detail.runs.map(({ order }) => order)).toEqual(orders);

    const shown = await troupe(["sessions", "show", session, "--json"], { home });
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(shown.stdout).runs.map(({ order }: { order: number }) => order)).toEqual(orders);

    const { page, complaints } = await openPage(browser(), daemon, { test, query: `?session=${session}` });
    // Rows appear with each page. The tree is whole when a child has all of its siblings.
    await page
      .locator(`[data-testid="run-row"][aria-setsize="${runs - 1}"]`)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });
});
