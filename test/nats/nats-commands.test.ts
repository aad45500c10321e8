/** The commands for the streams of a server: check, purge and restore. */
import { expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { findNatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { saying } from "../harness/scenario-file.ts";
import { responseOf } from "../harness/session-queries.ts";
import { createTroupes } from "./troupes.fixture.ts";

const program = findNatsServer();

it.skipIf(program === null)(
  program === null ? natsServerMissing : "a server that was wiped: reported, refused, restored, used again, purged",
  async (test) => {
    const server = await startNatsServer();
    test.onTestFinished(() => server.stop());
    const troupes = await createTroupes(test, { url: server.url, agents: saying("Done.") });
    const daemon = await troupes.daemon();
    const { home } = daemon;
    const nats = async (...args: string[]) => {
      const where = ["--nats", server.url, "--namespace", troupes.namespace];
      const { code, stdout, stderr } = await troupe(["nats", ...args, ...where, "--json"], { home });
      const report: Record<string, unknown> = { ...JSON.parse(stdout || stderr), code };
      return report;
    };
    const { session } = await daemon.client.submit({ task: "say something", origin: "api" });
    await responseOf(daemon, session);
    const before = await nats("check");
    expect(before).toMatchObject({
      code: 0,
      ok: true,
      missing: [],
      drift: [],
      record: { isSame: true },
      followers: [{ own: true }],
    });
    await daemon.stop();

    await server.wipe();
    expect(await nats("check")).toMatchObject({ code: 1, ok: false, journal: null, record: { isSame: false } });
    const start = ["up", "--json", "--no-open", "--port", "0", "--nats", server.url, "--namespace", troupes.namespace];
    const refused = await troupe(start, { home });
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: "JOURNAL_LOST", fix: expect.stringContaining("troupe nats restore") },
    });

    expect(await nats("restore")).toMatchObject({
      ...{ code: 0, created: true, sessions: 1, parted: [], damage: [], leftOut: [] },
      journal: (before.journal as { id: string }).id,
    });
    const again = await troupes.daemon({ home });
    const { session: next } = await again.client.submit({ task: "once more", origin: "api", continues: session });
    expect(next).toBe(session);
    await responseOf(again, session);
    // The newest session of the journal is never purged.
    const { session: newest } = await again.client.submit({ task: "something else", origin: "api" });
    await responseOf(again, newest);
    await again.stop();

    expect(await nats("purge")).toMatchObject({ code: 0, olderThanDays: 7, purged: [] });
    expect(await nats("purge", "--older-than", "36h")).toMatchObject({ olderThanDays: 1.5, purged: [] });
    expect(await nats("purge", "--older-than", "0", "--dry-run")).toMatchObject({
      purged: [{ session }],
      dryRun: true,
    });
    expect(await nats("purge", "--older-than", "0")).toMatchObject({ purged: [{ session }], lacked: [] });
    const shown = await troupe(["sessions", "show", session, "--json"], { home });
    expect(JSON.parse(shown.stdout)).toMatchObject({ session: { status: "completed", turns: 2 } });
  },
);
