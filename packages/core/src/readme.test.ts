/** The README names every export and nothing else, and its example gives the results in its comments. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as core from "./index.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const readme = read("../README.md");

/** Names between the braces of every export of an index. */
function exportsOf(index: string): string[] {
  return [...index.matchAll(/export (?:type )?\{([^}]+)\}/g)].flatMap(([, names = ""]) =>
    names
      .split(",")
      .map((name) => name.replace(/^\s*type\s/, "").trim())
      .filter((name) => name !== ""),
  );
}

test("the README names every export", () => {
  const exported = [...exportsOf(read("./index.ts")), ...exportsOf(read("./memory/index.ts"))];
  expect(exported.length).toBeGreaterThan(60);
  expect(exported.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

test("the README names only exports", () => {
  const tables = readme.slice(readme.indexOf("## Exports"), readme.indexOf("**Errors**"));
  const cells = [...tables.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => cell.split(", "));
  const exported = exportsOf(read("./index.ts"));
  expect(cells.length).toBeGreaterThan(40);
  expect(cells.map((cell) => cell.replaceAll("`", "")).filter((name) => !exported.includes(name))).toEqual([]);
});

test("the README's example runs, with the printed results", () => {
  const example = readme.match(/```ts\n(.*?)```/s)?.[1] ?? "";
  const checked = example
    .replace(/import (\{.*\}) from "@troupe\/core";/, "const $1 = core;")
    .replace(/^(.+); \/\/ (.+)$/gm, "check($1, $2);");
  const seen: [unknown, unknown][] = [];
  new Function("core", "check", checked)(core, (actual: unknown, expected: unknown) => seen.push([actual, expected]));
  expect(seen).toHaveLength(3);
  for (const [actual, expected] of seen) expect(actual).toEqual(expected);
});
