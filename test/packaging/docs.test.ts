/** Links of the documentation lead somewhere, and the maps name files that exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));

const pages = [".", "docs", "docs/adr", "docs/guides", "examples", "apps/dashboard"]
  .concat(readdirSync(join(root, "packages")).map((name) => join("packages", name)))
  .flatMap(pagesIn);

describe("links", () => {
  test.each(pages)("%s", (page) => {
    const prose = read(page).replace(/^```[\s\S]*?^```/gm, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => link ?? []);
    expect(links.filter((link) => !/^[a-z]+:/.test(link)).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(read(target)).includes(anchor);
}

/** GitHub's anchors: the words of a heading in lower case, with hyphens between them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

const topFolders = /^(?:packages|apps|test|scripts|docs|examples)(?:\/|$)/;

describe("paths", () => {
  test.each([
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/code-map.md",
    "docs/how-it-works.md",
    "docs/figures.md",
    "docs/reliability.md",
    "docs/security.md",
  ])("%s", (page) => {
    expect(read(page).split("\n").flatMap(missingPaths)).toEqual([]);
  });

  test("a path that does not exist is found, also a name beside another path", () => {
    expect(missingPaths("`packages/core/src/ports/clock.ts`, `bus.ts`, `none.ts`; `packages/none`")).toEqual([
      "none.ts",
      "packages/none",
    ]);
  });
});

/** The paths of a line that do not exist. A name alone (`fence.ts`, `prices/`) lies beside or below a path of its line. */
function missingPaths(line: string): string[] {
  const spans = [...line.matchAll(/`([\w./-]+)`/g)].flatMap(([, span]) => span ?? []);
  const paths = spans.filter((span) => topFolders.test(span));
  const names = spans.filter((span) => !topFolders.test(span) && /^[\w-]+(?:\/|\.ts)$/.test(span));
  const folders = paths.flatMap((path) => [path, dirname(path)]);
  return [
    ...(folders.length > 0
      ? names.filter((name) => !folders.some((folder) => existsSync(join(root, folder, name))))
      : []),
    ...paths.filter((path) => !existsSync(join(root, path))),
  ];
}
