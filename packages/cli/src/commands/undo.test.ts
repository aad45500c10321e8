import { afterEach, describe, expect, test } from "vitest";
import { removeTemporaryFolders } from "../testing/fake-cli.ts";
import { createOfflineCli } from "../testing/offline-troupe.ts";
import { aRun, aSession } from "../testing/rows.ts";

afterEach(removeTemporaryFolders);

const session = "0198a222-0000-7000-8000-000000000002";
const root = "0198a222-0000-7000-8000-000000000003";
const child = "5c5c5c5c-0000-8000-8000-000000000004";
const other = "0198a333-0000-7000-8000-000000000005";

const restored = { path: "a.txt", action: "restore", reason: null } as const;
const conflict = { path: "b.txt", action: "conflict", reason: "a person changed it since" } as const;

function homeWithSession(files: readonly (typeof restored | typeof conflict)[] = [restored]) {
  const row = aSession({ session, rootRun: root });
  const runs = [aRun({ run: root, session }), aRun({ run: child, session, parentRun: root, order: 1 })];
  const made = createOfflineCli([
    { row, runs },
    { row: aSession({ session: other, rootRun: other }), runs: [aRun({ run: other, session: other })] },
  ]);
  made.troupe.undoFiles = [...files];
  return made;
}

const all = { partial: false, redo: false, by: "ada" };

describe("troupe undo", () => {
  test("lists the files, and changes none without a terminal or --yes", async () => {
    const { cli, troupe } = homeWithSession();
    expect(await cli.run("undo", root)).toBe(8);
    expect(cli.out()).toMatch(/a\.txt +restore/);
    expect(cli.err()).toBe(`nothing was changed; to change these files: troupe undo ${root} --yes\n`);
    expect(troupe.commands).toEqual([]);
  });

  test.each([
    [["undo", root, "--yes"], all],
    [["undo", session.slice(0, 8), "--yes", "--json"], all],
    [["undo", "5c5c", "--yes", "--step", "3"], { step: 3, ...all }],
    [["undo", "--path", "src", "--path", "b.txt", root, "--yes"], { paths: ["src", "b.txt"], ...all }],
    [["undo", root, "--redo", "--yes"], { ...all, redo: true }],
    [["undo", "5c5c", "--session", session, "--yes"], all],
  ])("%j sends the request", async (args, request) => {
    const { cli, troupe } = homeWithSession();
    expect(await cli.run(...args)).toBe(0);
    expect(troupe.commands).toEqual([`undo: ${JSON.stringify(request)}`]);
    expect(args.includes("--json") ? JSON.parse(cli.out()).outcome : cli.out()).toMatch(/done|undone: 1 restored/);
  });

  test("a conflict stops the undo, and --partial restores the rest", async () => {
    const { cli, troupe } = homeWithSession([restored, conflict]);
    expect(await cli.run("undo", root, "--yes")).toBe(1);
    expect(cli.out()).toContain("a person changed it since");
    expect(cli.err()).toContain(`1 file cannot be restored; to restore the others: troupe undo ${root} --partial`);
    expect(troupe.commands).toEqual([]);
    expect(await cli.run("undo", root, "--yes", "--partial")).toBe(1);
    expect(cli.err()).toContain("not restored: b.txt: a person changed it since");
    expect(troupe.commands).toHaveLength(1);
  });

  test("--dry-run says by its exit code whether the undo would be refused", async () => {
    const { cli, troupe } = homeWithSession([restored, conflict]);
    expect(await cli.run("undo", root, "--dry-run", "--json")).toBe(1);
    expect(JSON.parse(cli.out())).toMatchObject({ outcome: "planned", files: [restored, conflict] });
    troupe.undoFiles = [restored];
    expect(await cli.run("undo", root, "--dry-run")).toBe(0);
    expect(troupe.commands).toEqual([]);
  });

  test.each([
    [["undo", "9999"], 'there is no run "9999"'],
    [["undo", other, "--session", session], "there is no run"],
    [["undo", root, "--step", "first"], '--step "first" is not a whole number'],
  ])("%j is refused", async (args, message) => {
    const { cli, troupe } = homeWithSession();
    expect(await cli.run(...args)).toBe(2);
    expect(cli.err()).toContain(message);
    expect(troupe.commands).toEqual([]);
  });
});
