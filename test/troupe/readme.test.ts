/** The programs of the README of `troupe` run: the example's own text, and lines that do what they say. */
import { readFileSync } from "node:fs";
import * as memory from "@troupe/core/memory";
import * as system from "@troupe/core/system";
import * as models from "@troupe/models";
import * as tools from "@troupe/tools";
import * as troupe from "troupe/internal";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const programs = [...read("../../packages/troupe/README.md").matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
const [embedding = "", team = ""] = programs;

it("shows the example as it is", () => {
  const [, ...lines] = read("../../examples/03-team/main.ts").split("\n");
  expect(team).toBe(lines.join("\n"));
});

it("shows how to embed, in lines that run", async () => {
  const scope: Record<string, unknown> = { ...memory, ...system, ...models, ...tools, ...troupe };
  const names = [...embedding.matchAll(/^import \{ (.*) \} from/gm)].flatMap(([, list = ""]) => list.split(", "));
  const lines = embedding.replace(/^import .*\n/gm, "");
  expect(names.filter((name) => scope[name] === undefined)).toEqual([]);
  const AsyncFunction = (async () => {}).constructor as typeof Function;
  await new AsyncFunction(...names, lines)(...names.map((name) => scope[name]));
});
