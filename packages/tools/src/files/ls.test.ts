import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { fileTools } from "./file-tools.test-helper.ts";

const { ls } = fileTools();

test("a folder is listed, sorted, with sizes, hidden and ignored names and targets of links", async ({
  folder,
  call,
}) => {
  await mkdir(join(folder, "src/deep"), { recursive: true });
  await mkdir(join(folder, "node_modules/left-pad"), { recursive: true });
  await writeFile(join(folder, ".gitignore"), "ignored.log\n");
  await writeFile(join(folder, "ignored.log"), "");
  await writeFile(join(folder, "src/a.ts"), "x");
  await writeFile(join(folder, "src/deep/b.ts"), "xy");
  await writeFile(join(folder, "large.bin"), "");
  await truncate(join(folder, "large.bin"), 10_000_000_000);
  await symlink("/etc", join(folder, "out"));

  expect((await call(ls, {})).output).toBe(
    [
      "./ (6 entries)",
      "  .gitignore  12 bytes",
      "  ignored.log  0 bytes",
      "  large.bin  10000000000 bytes",
      "  node_modules/",
      "  out -> /etc",
      "  src/",
    ].join("\n"),
  );
  expect((await call(ls, { depth: 3 })).output).toMatch(
    / {2}node_modules\/\n {2}out -> \/etc\n {2}src\/\n {4}a\.ts {2}1 byte\n {4}deep\/\n {6}b\.ts {2}2 bytes$/,
  );
});

test("entries over the limit are counted", async ({ folder, call }) => {
  const many = Array.from({ length: 350 }, (_, i) => `f${String(i).padStart(3, "0")}`);
  await Promise.all(many.map((name) => writeFile(join(folder, name), "")));
  const { output } = await call(ls, { path: "." });
  expect(output).toMatch(/^\.\/ \(350 entries\)\n/);
  expect(output).toMatch(/ {2}f299 {2}0 bytes\n {2}\[… and 50 more here\]$/);
});

test("a path that is not a folder says so", async ({ folder, call }) => {
  await writeFile(join(folder, "a.md"), "abc");
  expect((await call(ls, { path: "a.md" })).error?.message).toBe("a.md is not a folder: it is a file of 3 bytes");
  expect((await call(ls, { path: "b.md" })).error?.message).toContain("the nearest names are: a.md");
});
