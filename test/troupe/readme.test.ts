/** The programs in the README of `troupe` must equal the tested ones. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const readme = read("../../packages/troupe/README.md");
const programs = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);

it.each([
  ["01-embed", 1],
  ["03-team", 2],
])("the example %s is the tested file", (name, position) => {
  const [, ...lines] = read(`../../examples/${name}/main.ts`).split("\n");
  expect(programs[position]).toBe(lines.join("\n"));
});

it("the example with two agents and a tool has at most twenty lines", () => {
  const lines = (programs[1] ?? "").split("\n").filter((line) => line.trim() !== "");
  expect(lines.length).toBeLessThanOrEqual(20);
});

it("every option and every method is named", async () => {
  const options = read("../../packages/troupe/src/options.ts").match(
    /export interface TroupeOptions \{(.*?)\n\}/s,
  )?.[1];
  const named = [...(options ?? "").matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !readme.includes(`| \`${name}\` |`))).toEqual([]);
  const methods = read("../../packages/troupe/src/create-troupe.ts").match(
    /export interface Troupe extends.*?\n\}/s,
  )?.[0];
  const names = [...(methods ?? "").matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name);
  expect(names.filter((name) => !readme.includes(`\`${name}(`))).toEqual([]);
});
