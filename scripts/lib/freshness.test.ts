import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fingerprint, isFresh } from "./freshness.ts";

// A launcher that wrongly treats a build as fresh runs old code. These tests list the changes that must trigger a
// rebuild.

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "troupe-fresh-"));
  write("tsconfig.base.json", "{}");
  write(
    "packages/core/package.json",
    '{"exports": {".": {"types": "./dist/index.d.ts", "default": "./dist/index.js"}}}',
  );
  write("packages/core/src/index.ts", "one");
  write("packages/core/src/deep/noun.ts", "two");
  write("packages/core/dist/index.js", "built");
  write("packages/core/dist/index.d.ts", "built");
  write("apps/page/package.json", "{}");
  write("apps/page/dist/index.html", "built");
  write("apps/page/index.html", "source");
  write("node_modules/.cache/troupe/built", fingerprint(root));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function remove(path: string): void {
  rmSync(join(root, path), { recursive: true });
}

describe("a build", () => {
  it("is fresh as long as nothing changes", () => {
    expect(isFresh(root)).toBe(true);
  });

  it.each<[string, () => void]>([
    ["a source was changed", () => write("packages/core/src/deep/noun.ts", "three")],
    ["a source was added", () => write("packages/core/src/new.ts", "")],
    ["a source was deleted", () => remove("packages/core/src/deep/noun.ts")],
    ["an older source was put in its place", () => backdate("packages/core/src/index.ts")],
    ["a package was added", () => write("packages/new/package.json", '{"exports": {}}')],
    ["a package's settings were changed", () => write("packages/core/tsconfig.json", "{}")],
    ["the page was changed", () => write("apps/page/index.html", "another source")],
    ["the shared settings were changed", () => write("tsconfig.base.json", '{"a": 1}')],
    ["a dist was deleted", () => remove("packages/core/dist")],
    ["a promised file was deleted", () => remove("packages/core/dist/index.d.ts")],
    ["the page's dist was deleted", () => remove("apps/page/dist")],
    ["no build ever succeeded", () => remove("node_modules")],
  ])("is stale when %s", (_what, change) => {
    change();
    expect(isFresh(root)).toBe(false);
  });

  it.each<[string, () => void]>([
    ["a test", () => write("packages/core/src/index.test.ts", "")],
    ["a readme", () => write("packages/core/README.md", "")],
    ["a build's own output", () => write("packages/core/dist/index.js", "built again")],
    ["a dependency", () => write("packages/core/node_modules/zod/index.js", "")],
  ])("ignores %s", (_what, change) => {
    change();
    expect(isFresh(root)).toBe(true);
  });
});

function backdate(path: string): void {
  const earlier = new Date(statSync(join(root, path)).mtimeMs - 60_000);
  utimesSync(join(root, path), earlier, earlier);
}
