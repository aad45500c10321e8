import type { Clock } from "@troupe/core";
import type { WebAnswer } from "./http-client.ts";

export interface PageCache {
  get(session: string, url: string): WebAnswer | null;
  /** Keeps an answer under every URL that led to it, unless its server wants it not to be kept. */
  put(session: string, answer: WebAnswer): void;
}

export interface PageCacheOptions {
  clock: Clock;
  /** @default 15 minutes */
  ageMsMax?: number;
  /** Of all sessions together. @default 200 */
  entriesMax?: number;
  /** Of all sessions together. @default 64 MB */
  bytesMax?: number;
}

interface Entry {
  answer: WebAnswer;
  atMs: number;
}

/** Pages that a session has read a moment ago: whoever of it asks again, or asks for the next part, asks nobody. */
export function createPageCache(options: PageCacheOptions): PageCache {
  const { clock, ageMsMax = 15 * 60_000, entriesMax = 200, bytesMax = 64 * 1024 * 1024 } = options;
  /** In the order in which they were put. */
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const remove = (key: string): void => {
    bytes -= entries.get(key)?.answer.body.length ?? 0;
    entries.delete(key);
  };

  const makeRoom = (): void => {
    const oldestMs = clock.monotonicMs() - ageMsMax;
    for (const [key, { atMs }] of entries) {
      if (atMs > oldestMs && entries.size <= entriesMax && bytes <= bytesMax) return;
      remove(key);
    }
  };

  return {
    get(session, url) {
      makeRoom();
      return entries.get(keyOf(session, url))?.answer ?? null;
    },
    put(session, answer) {
      if (!mayBeKept(answer)) return;
      for (const url of answer.chain) {
        const key = keyOf(session, url);
        remove(key);
        entries.set(key, { answer, atMs: clock.monotonicMs() });
        bytes += answer.body.length;
      }
      makeRoom();
    },
  };
}

function mayBeKept({ status, headers }: WebAnswer): boolean {
  return status === 200 && !/\bno-store\b/i.test(headers["cache-control"] ?? "");
}

function keyOf(session: string, url: string): string {
  return `${session} ${url}`;
}
