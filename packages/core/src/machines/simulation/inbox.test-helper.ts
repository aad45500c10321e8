import { beginsTurn, type InboxItem } from "../../protocol/inbox.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { SimulatedRun } from "./run.test-helper.ts";

export type SimulatedCommand =
  | { kind: "session.cancelled"; reason: string }
  | { kind: "run.cancelled"; run: string; reason: string }
  | { kind: "run.paused" | "run.resumed"; run: string; by: string }
  | { kind: "run.steered"; run: string; text: string; by: string }
  | { kind: "approval.answered"; run: string; approval: string; approved: boolean; scope: "once" | "run"; by: string };

/** A session's inbox. Every run reads the items for it, in order, at its own pace. */
export class Inbox {
  readonly #items: InboxItem[] = [];

  add(command: SimulatedCommand, session: string, at: number): void {
    this.#items.push({ v: 1, at, session, reason: null, ...command } as InboxItem);
  }

  hasItemsFor({ inboxRead, request }: SimulatedRun): boolean {
    return this.#items.slice(inboxRead).some((item) => concerns(item, request));
  }

  /** The next unread item for the run; null if there is none. */
  next(run: SimulatedRun): { seq: number; item: InboxItem } | null {
    for (const item of this.#items.slice(run.inboxRead)) {
      run.inboxRead += 1;
      if (concerns(item, run.request)) return { seq: run.inboxRead, item };
    }
    return null;
  }
}

function concerns(item: InboxItem, { run, ancestors }: RunRequest): boolean {
  if (item.kind === "session.cancelled") return true;
  if (beginsTurn(item)) return false;
  if (item.kind === "run.steered" || item.kind === "approval.answered") return item.run === run;
  return item.run === run || ancestors.includes(item.run);
}
