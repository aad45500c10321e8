import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { holdsByDescriptor } from "./held-folder.ts";
import { folderIn, makeFolder, namesIn, type OpenFolder, openRoot } from "./open-folder.ts";

/** Opens the folder `sub`. Then its name leads to another folder that has the same names. */
async function openAndSwap(folder: string): Promise<OpenFolder | null> {
  for (const name of ["sub", "outside"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "sub", "a.txt"), "inside");
  writeFileSync(join(folder, "outside", "a.txt"), "SECRET");
  await using root = await openRoot(folder);
  const sub = await folderIn(root, "sub");
  renameSync(join(folder, "sub"), join(folder, "moved"));
  symlinkSync("outside", join(folder, "sub"));
  return sub;
}

describe.skipIf(!holdsByDescriptor)("an open folder whose name leads elsewhere by now", () => {
  test("finds and opens the files of the folder that was checked", async ({ folder }) => {
    await using sub = await openAndSwap(folder);
    const found = await sub?.lookUp("a.txt");
    if (found?.kind !== "file") throw new Error(`found ${found?.kind}`);
    await using file = found.file;
    await using handle = await file.open();
    expect(await handle.readFile("utf8")).toBe("inside");
  });

  test("lists and makes names in the folder that was checked", async ({ folder }) => {
    await using sub = await openAndSwap(folder);
    if (!sub) throw new Error("not found");
    expect(await makeFolder(sub, "made")).toBe(true);
    expect(await namesIn(sub)).toEqual(["a.txt", "made"]);
    expect(readdirSync(join(folder, "outside"))).toEqual(["a.txt"]);
  });

  test("opens the file that was found, also if another file has its name by now", async ({ folder }) => {
    writeFileSync(join(folder, "a.txt"), "inside");
    writeFileSync(join(folder, "b.txt"), "SECRET");
    await using root = await openRoot(folder);
    const found = await root.lookUp("a.txt");
    if (found.kind !== "file") throw new Error(`found ${found.kind}`);
    await using file = found.file;
    renameSync(join(folder, "b.txt"), join(folder, "a.txt"));
    await using handle = await file.open();
    expect(await handle.readFile("utf8")).toBe("inside");
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("SECRET");
  });
});
