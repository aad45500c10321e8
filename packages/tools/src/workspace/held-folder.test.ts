import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { holdEntry, holdFolder, holdPath, holdRoot, walkTo } from "./held-folder.ts";
import { removeEntry } from "./remove-entry.ts";

describe("a held folder", () => {
  test("stays the same folder, whatever its name leads to", ({ folder }) => {
    mkdirSync(join(folder, "sub"));
    mkdirSync(join(folder, "other"));
    using root = holdRoot(folder);
    using sub = holdFolder(root, "sub");
    renameSync(join(folder, "sub"), join(folder, "moved"));
    symlinkSync("other", join(folder, "sub"));
    writeFileSync(sub?.at("made") ?? "", "");
    expect(readdirSync(join(folder, "moved"))).toEqual(["made"]);
    expect(readdirSync(join(folder, "other"))).toEqual([]);
  });

  test("is reached through folders only: not through links, files or ..", ({ folder }) => {
    mkdirSync(join(folder, "a", "b"), { recursive: true });
    writeFileSync(join(folder, "file"), "");
    symlinkSync("a", join(folder, "link"));
    using root = holdRoot(folder);
    expect(walkTo(root, "a/b")?.kind).toBe("folder");
    for (const path of ["link", "link/b", "file/x", "missing/x", "..", "a/../a"])
      expect(walkTo(root, path), path).toBeNull();
    expect(holdEntry(root, "link")?.kind).toBe("link");
    expect(holdPath(root, "link/b")).toBeNull();
    expect(() => holdRoot(join(folder, "link"))).toThrow();
  });
});

describe("a removal", () => {
  test("does not follow links, and removes folders without rights", async ({ folder }) => {
    mkdirSync(join(folder, "kept", "inner"), { recursive: true });
    mkdirSync(join(folder, "gone", "closed"), { recursive: true });
    writeFileSync(join(folder, "gone", "closed", "file"), "");
    mkdirSync(join(folder, "gone", "none"), { mode: 0 });
    symlinkSync("../kept", join(folder, "gone", "link"));
    using root = holdRoot(folder);
    expect(await removeEntry(root, "gone")).toBe(true);
    expect(await removeEntry(root, "missing")).toBe(true);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(["kept", "kept/inner"]);
  });

  test("ends also if folders are nested deeper than descriptors reach", async ({ folder }) => {
    using root = holdRoot(folder);
    mkdirSync(join(folder, "0"));
    for (let i = 1; i <= 500; i += 1) {
      mkdirSync(join(folder, `${i}`));
      renameSync(join(folder, `${i - 1}`), join(folder, `${i}`, "x"));
    }
    expect(await removeEntry(root, "500")).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });
});
