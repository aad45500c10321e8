import { acquireHome } from "troupe/internal";
import { vi } from "vitest";
import type { FakeCli } from "./fake-cli.ts";
import type { FakeTroupe } from "./fake-troupe.ts";

/** Starts a troupe of another process on the same home. */
export async function startOtherOwner(cli: FakeCli, kind: "daemon" | "run" = "daemon") {
  const home = await acquireHome(cli.home);
  const logger = undefined as never;
  const troupe = await cli.composition.start({
    home,
    kind,
    host: "",
    port: 0,
    env: {},
    nats: {},
    work: { serve: "all", capacity: 1 },
    logger,
  });
  const { url, token } = troupe;
  const startedAt = new Date(0).toISOString();
  await home.announce({ kind, pid: process.pid, url, token, version: "0.1.0", startedAt });
  return { home, troupe: troupe as FakeTroupe };
}

/** Waits for the newest session of a troupe. */
export async function newestSession(troupe: () => FakeTroupe | undefined): Promise<string> {
  return vi.waitFor(async () => {
    const [row] = (await troupe()?.sessions({ limit: 1 }))?.sessions ?? [];
    if (!row) throw new Error("not yet");
    return row.session;
  });
}
