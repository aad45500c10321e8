import type { RunRow, SessionRow } from "@troupe/core";
import { createFakeCli, type FakeCli } from "./fake-cli.ts";
import { FakeTroupe } from "./fake-troupe.ts";

/** A command on a home with these sessions and without an owner. */
export function createOfflineCli(sessions: readonly { row: SessionRow; runs: RunRow[] }[]): {
  cli: FakeCli;
  troupe: FakeTroupe;
} {
  const cli = createFakeCli({ env: { USER: "ada" } });
  const troupe = new FakeTroupe({ url: "", token: "", home: cli.home.path, kind: "run", demo: false });
  for (const { row, runs } of sessions) troupe.seed(row, runs);
  cli.composition.offline = troupe;
  return { cli, troupe };
}
