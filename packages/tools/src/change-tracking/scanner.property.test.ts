/**
 * An updated scan is equal to a whole scan, after any changes of a folder. The folder is on a real
 * file system, because the law depends on what a kernel does with change times.
 */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { compareScans, type Scan } from "./scan.ts";
import { createScanner, type Scanner, scanBounds } from "./scanner.ts";

const bounds = { ...scanBounds, namesInProcessMax: 0 };
const runs = inject("long") ? 150 : 8;
/** Longer ago than the time that an updated scan reads again. */
const oldMs = 200;

const folders = ["", "a", "a/b", "a/b/c", "d", "d/e", "d/e/c", "[x]*"];
const names = ["1", "2", "caf\u00e9", "two\nlines"];
const files = folders.flatMap((folder) => names.map((name) => join(folder, name)));

const file = fc.constantFrom(...files);
const folder = fc.constantFrom(...folders.slice(1));
const change = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), at: file }),
  fc.record({ kind: fc.constant("append" as const), at: file }),
  fc.record({ kind: fc.constant("remove" as const), at: fc.oneof(file, folder) }),
  fc.record({ kind: fc.constant("move" as const), at: fc.oneof(file, folder), to: fc.oneof(file, folder) }),
  fc.record({ kind: fc.constant("exchange" as const), at: folder, to: folder }),
  fc.record({ kind: fc.constant("mode" as const), at: file }),
  fc.record({ kind: fc.constant("time" as const), at: file }),
  fc.record({ kind: fc.constant("link" as const), at: file, to: file }),
  fc.record({ kind: fc.constant("symlink" as const), at: fc.oneof(file, folder), to: folder }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function makeRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "troupe-scan-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const path of files) write(root, path, `original ${path}\n`);
  return root;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** A change that is not possible any more, such as a removal of a missing file, is left out. */
function apply(root: string, one: Change): void {
  const at = join(root, one.at);
  const to = "to" in one ? join(root, one.to) : "";
  try {
    if (one.kind === "write") write(root, one.at, "written\n");
    else if (one.kind === "append") appendFileSync(at, "more\n");
    else if (one.kind === "remove") rmSync(at, { recursive: true });
    else if (one.kind === "move") renameSync(at, to);
    else if (one.kind === "mode") chmodSync(at, 0o755);
    else if (one.kind === "time") utimesSync(at, 1, 1);
    else if (one.kind === "link") linkSync(at, to);
    else if (one.kind === "symlink") replaceByLink(at, to);
    else exchange(at, to);
  } catch {}
}

function replaceByLink(at: string, to: string): void {
  rmSync(at, { recursive: true });
  symlinkSync(to, at);
}

function exchange(one: string, other: string): void {
  if (!existsSync(one) || !existsSync(other)) return;
  renameSync(one, `${one}.away`);
  renameSync(other, one);
  renameSync(`${one}.away`, other);
}

/** Resolves when an updated scan no longer reads everything that was made before this call. */
async function becomeOld(): Promise<void> {
  const madeMs = Date.now();
  await expect.poll(() => Date.now() - madeMs, { interval: 20 }).toBeGreaterThan(oldMs);
}

function identitiesOf(scan: Scan): Record<string, string> {
  return Object.fromEntries([...scan].map(([path, { identity }]) => [path, identity]));
}

/** Makes the changes, and expects that the updated scan equals a whole one. */
async function expectWholeScan(root: string, scanner: Scanner, changes: readonly Change[]): Promise<void> {
  for (const one of changes) apply(root, one);
  const updated = await scanner.scan();
  const whole = await createScanner(root, bounds).scan();
  expect(compareScans(updated, whole)).toEqual([]);
  expect(identitiesOf(updated)).toEqual(identitiesOf(whole));
}

describe("an updated scan", () => {
  test("is equal to a whole scan after random changes", { timeout: 600_000 }, async () => {
    const sequences = fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const root = makeRoot();
        await becomeOld();
        using scanner = createScanner(root, bounds);
        await scanner.scan();
        for (const changes of sequence) await expectWholeScan(root, scanner, changes);
      }),
      { numRuns: runs, interruptAfterTimeLimit: 120_000, markInterruptAsFailure: false },
    );
  });

  test("by processes that hold the folders is equal to a whole scan after random changes", async () => {
    const sequences = fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const root = makeRoot();
        using scanner = createScanner(root, bounds);
        // They hold the folders after the second scan.
        for (let i = 0; i < 2; i += 1) await scanner.scan();
        for (const changes of sequence) await expectWholeScan(root, scanner, changes);
      }),
      { numRuns: runs, interruptAfterTimeLimit: 120_000, markInterruptAsFailure: false },
    );
  }, 600_000);

  test("notices folders in exchanged folders", async () => {
    const root = makeRoot();
    await becomeOld();
    const scanner = createScanner(root, bounds);
    await scanner.scan();
    exchange(join(root, "a/b"), join(root, "d/e"));
    const updated = await scanner.scan();
    expect(compareScans(updated, await createScanner(root, bounds).scan())).toEqual([]);
  });

  test("is the same object while nothing changes", async () => {
    const root = makeRoot();
    await becomeOld();
    const scanner = createScanner(root, bounds);
    const first = await scanner.scan();
    expect(await scanner.scan()).toBe(first);
    expect(first.size).toBe(folders.length);
  });

  test.each([
    ["in this process", scanBounds],
    ["by find", bounds],
  ])("has the folders of a whole scan: %s", async (_, own) => {
    const root = makeRoot();
    const scan = await createScanner(root, own).scan();
    const other = await createScanner(root, own === bounds ? scanBounds : bounds).scan();
    expect(compareScans(scan, other)).toEqual([]);
    expect(identitiesOf(scan)).toEqual(identitiesOf(other));
  });
});
