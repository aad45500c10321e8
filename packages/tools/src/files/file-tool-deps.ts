import { setTimeout as delay } from "node:timers/promises";
import type { Blobs, Journal, ToolContext } from "@troupe/core";
import { z } from "zod";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createRecentTexts, createSeenVersions, type RecentTexts, type SeenVersions } from "./seen-versions.ts";

export interface FileToolOptions {
  /**
   * Tells the file versions that a run saw before a restart.
   * @default versions are remembered in this process only
   */
  journal?: Pick<Journal, "readRun">;
  /**
   * The sandbox of commands. If it does not contain them, a person has to allow each change of an executable file.
   * @default such changes need no approval of their own
   */
  sandbox?: Pick<Sandbox, "contains">;
  /** Keeps the content of files before their changes, so that a person can undo them. @default it is not kept */
  blobs?: Pick<Blobs, "get" | "put">;
}

/** State that the file tools of one process share. */
export interface FileToolDeps {
  seen: SeenVersions;
  recent: RecentTexts;
  reservations: FileReservations;
  sandbox: Pick<Sandbox, "contains"> | undefined;
  journal: Pick<Journal, "readRun"> | null;
  blobs: Pick<Blobs, "get" | "put"> | undefined;
}

export function createFileToolDeps({ journal, sandbox, blobs }: FileToolOptions): FileToolDeps {
  return {
    seen: createSeenVersions(journal ?? null),
    recent: createRecentTexts(),
    reservations: createFileReservations(),
    sandbox,
    journal: journal ?? null,
    blobs,
  };
}

export const contentCharactersMax = 4 * 1024 * 1024;

export const pathField = z.string().min(1).max(4_096);

export const contentField = z.string().max(contentCharactersMax);

export const versionField = z
  .string()
  .regex(/^[0-9a-fA-F]{8,64}$/, "give the version that read shows")
  .optional()
  .describe("As read shows it. Default: the version that you saw last");

/**
 * A call reserves the files that it changes, from its plan to its end, within this process. Two edits of one file in one
 * turn are then planned one after the other. Reservations only avoid needless conflicts, versions prevent lost updates.
 * A call that has waited too long therefore continues.
 */
export interface FileReservations {
  /** Waits until no other call holds any of the files. The call keeps the reservations that it already has. */
  reserve(context: ToolContext, keys: readonly string[]): Promise<void>;
  /** Ends all reservations of the call. */
  release(context: ToolContext): void;
}

interface Holder {
  ended: Promise<void>;
  end(): void;
}

const waitMsMax = 5_000;

function createFileReservations(): FileReservations {
  const holders = new Map<string, Holder>();
  const byCall = new Map<string, Holder>();

  const release = (context: ToolContext): void => {
    const holder = byCall.get(context.idempotencyKey);
    byCall.delete(context.idempotencyKey);
    for (const [key, current] of holders) if (current === holder) holders.delete(key);
    holder?.end();
  };

  const holderOf = (context: ToolContext): Holder => {
    const known = byCall.get(context.idempotencyKey);
    if (known) return known;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const onAbort = (): void => release(context);
    context.signal.addEventListener("abort", onAbort, { once: true });
    const holder: Holder = {
      ended,
      end: () => {
        context.signal.removeEventListener("abort", onAbort);
        resolve();
      },
    };
    byCall.set(context.idempotencyKey, holder);
    return holder;
  };

  return {
    async reserve(context, keys) {
      const own = holderOf(context);
      // All calls reserve in the same order, so that no two calls wait for each other.
      for (const key of keys.toSorted()) {
        for (let current = holders.get(key); current && current !== own; current = holders.get(key)) {
          const stopWaiting = new AbortController();
          const timeout = delay(waitMsMax, true, { signal: stopWaiting.signal }).catch(() => true);
          const hasTimedOut = await Promise.race([current.ended.then(() => false), timeout]);
          stopWaiting.abort();
          if (hasTimedOut && holders.get(key) === current) break;
        }
        if (!context.signal.aborted) holders.set(key, own);
      }
    },
    release,
  };
}
