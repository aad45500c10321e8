import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Counts of the whole tree that may only fall, in scripts/ratchet.json. They are not kept per file or package, so that
 * moving code changes nothing here.
 */
export interface Ratchet {
  /** Hits by rule, and by banned word. */
  counts: Record<string, number>;
  folderCycles?: KnownCycles;
}

/** Imports between top folders of one package that close a cycle, as `package: folder -> folder`. */
export interface KnownCycles {
  values: string[];
  types: string[];
}

export function readRatchet(root: string): Ratchet {
  const file = ratchetFile(root);
  return existsSync(file) ? { counts: {}, ...JSON.parse(readFileSync(file, "utf8")) } : { counts: {} };
}

export function writeRatchet(root: string, ratchet: Ratchet): void {
  writeFileSync(ratchetFile(root), `${JSON.stringify(ratchet, null, 2)}\n`);
}

function ratchetFile(root: string): string {
  return join(root, "scripts", "ratchet.json");
}

/** Today's counts, but none above the ratchet's. A key that the ratchet does not know is new: it starts at today's. */
export function lowered(allowed: Record<string, number>, counts: Record<string, number>): Record<string, number> {
  const entries = Object.entries(counts).map(([key, count]) => [key, Math.min(allowed[key] ?? count, count)] as const);
  return Object.fromEntries(entries);
}

/**
 * Today's cycles, but only while they are no more than the ratchet's: a renamed folder or a split package changes
 * entries, and none is added.
 */
export function shrunk(allowed: KnownCycles | undefined, today: KnownCycles): KnownCycles {
  const total = ({ values, types }: KnownCycles): number => values.length + types.length;
  const grew = allowed && (today.values.length > allowed.values.length || total(today) > total(allowed));
  return grew ? allowed : today;
}

/** CI wants every fall recorded. On a developer's machine a fall is only a hint, so that branches do not collide here. */
export function isFatal(difference: string): boolean {
  return Boolean(process.env.CI) || !difference.endsWith("Record it: pnpm lint:lower");
}
