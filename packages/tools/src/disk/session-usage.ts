import { readFileSync } from "node:fs";
import { type Logger, RunFailure } from "@troupe/core";
import { formatBytes } from "@troupe/core/texts";
import { z } from "zod";
import { writeFileAtomic } from "./atomic-write.ts";

/** The space on this machine that the calls of each session have added. */
export interface SessionUsage {
  /** Bytes that a session may still add; negative if it has added more. */
  leftOf(session: string): number;
  usedBy(session: string): number;
  readonly bytesMax: number;
  add(session: string, bytes: number): void;
  /** Throws a `RunFailure` for a session that has used all of its space. */
  refuseFull(session: string): void;
}

export interface SessionUsageOptions {
  /** Keeps the numbers over a restart. It is an estimate: a file that cannot be written or read loses nothing else. */
  file: string;
  /** Space of one session, in MB. */
  sessionMb: number;
  logger: Pick<Logger, "warn">;
}

const UsageFile = z.strictObject({ version: z.literal(1), bytes: z.record(z.string(), z.number().nonnegative()) });

/** The numbers of older sessions are dropped. */
const sessionsMax = 1_000;

/**
 * Opens the numbers of a home.
 *
 * @example
 * const usage = openSessionUsage({ file: "/home/me/.local/share/troupe/disk-usage.json", sessionMb: 10_240, logger });
 * usage.add(session, 4_096);
 */
export function openSessionUsage({ file, sessionMb, logger }: SessionUsageOptions): SessionUsage {
  const bytesMax = sessionMb * 1024 ** 2;
  const used = new Map(readNumbers(file));
  let isWriting = false;
  let isStale = false;

  const write = async (): Promise<void> => {
    while (isStale) {
      isStale = false;
      const content: z.input<typeof UsageFile> = { version: 1, bytes: Object.fromEntries(used) };
      await writeFileAtomic(file, Buffer.from(`${JSON.stringify(content)}\n`), { mode: 0o600 });
    }
  };
  const save = async (): Promise<void> => {
    isStale = true;
    if (isWriting) return;
    isWriting = true;
    await write().catch((err: unknown) => logger.warn({ err }, "the space that sessions use could not be stored"));
    isWriting = false;
  };

  const usedBy = (session: string): number => used.get(session) ?? 0;
  const leftOf = (session: string): number => bytesMax - usedBy(session);
  return {
    bytesMax,
    leftOf,
    usedBy,
    add(session, bytes) {
      if (bytes <= 0) return;
      const sum = usedBy(session) + bytes;
      // The newest is the last one.
      used.delete(session);
      used.set(session, sum);
      for (const oldest of used.keys()) {
        if (used.size <= sessionsMax) break;
        used.delete(oldest);
      }
      void save();
    },
    refuseFull(session) {
      if (leftOf(session) > 0) return;
      throw new RunFailure({ type: "tool_error", message: fullMessage(usedBy(session), bytesMax), recoverable: false });
    },
  };
}

function fullMessage(usedBytes: number, bytesMax: number): string {
  return (
    `nothing was started: the calls of this session have added about ${formatBytes(usedBytes)} to this machine, and ` +
    `${formatBytes(bytesMax)} are allowed (disk.sessionMb of policy.yaml); ask the user to raise it or to start a new session`
  );
}

function readNumbers(file: string): [string, number][] {
  try {
    return Object.entries(UsageFile.parse(JSON.parse(readFileSync(file, "utf8"))).bytes);
  } catch {
    return [];
  }
}
