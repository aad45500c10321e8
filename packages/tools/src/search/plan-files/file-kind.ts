import { wordsOf } from "./goal-terms.ts";

/** What a file is, as far as its path tells. */
export type FileKind = "source" | "test" | "document" | "data" | "generated";

const testFolders = new Set(["test", "tests", "__tests__", "spec", "specs", "testing", "e2e"]);
const testNames = new Set(["test", "tests", "spec", "fixture", "fixtures", "helper", "bench"]);
const generatedFolders = new Set(["dist", "build", "out", "vendor", "third_party", "node_modules", "__snapshots__"]);

export function kindOf(path: string): FileKind {
  const folders = path.toLowerCase().split("/");
  const name = folders.pop() ?? "";
  if (/(?:^|[-.])lock(?:\.|$)|-lock\.|\.min\.|\.map$|\.snap$|\.svg$/.test(name)) return "generated";
  if (folders.some((folder) => generatedFolders.has(folder))) return "generated";
  if (/^changelog|^changes\.|^licen[cs]e|^notice/.test(name)) return "generated";
  if (/\.(?:md|mdx|rst|adoc|txt)$/.test(name)) return "document";
  if (isTestName(name) || folders.some((folder) => testFolders.has(folder))) return "test";
  if (/\.(?:json|jsonl|ya?ml|toml|csv|xml|ini|sql|css|html)$/.test(name)) return "data";
  return "source";
}

/** The name of what a test is about, and of what it is written in: `call-tool` of `call-tool.property.test.ts`. */
export function subjectOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const stem = name.replace(/^test[_-]/, "").replace(/\..*$/, "");
  return stem.replace(/[_-](?:test|tests|spec)$/, "").replace(/(?<=.)tests?$/, "");
}

function isTestName(name: string): boolean {
  const words = wordsOf(name.replace(/\.[^.]+$/, ""));
  return words.length > 1 && (testNames.has(words.at(-1) ?? "") || words[0] === "test");
}

/** Names that say nothing of what is in a file: whoever imports one of them may mean any other. */
export function isGenericName(subject: string): boolean {
  return ["index", "main", "mod", "lib", "__init__", "types", "utils", "util", "app", "readme", "core"].includes(
    subject,
  );
}

/** Where a reader begins. */
export function isEntryPoint(path: string): boolean {
  return /(?:^|\/)(?:main|index|app|cli|server|mod|lib|__main__|manage|readme|architecture|package)\.(?:[cm]?[jt]sx?|py|go|rs|md|json)$/i.test(
    path,
  );
}
