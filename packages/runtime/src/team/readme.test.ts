/** The README's programs are those that run: the example's own text, and lines that do what they say. */
import { readFileSync } from "node:fs";
import { createMemoryJournal } from "@troupe/core/memory";
import { expect, it } from "vitest";
import * as runtime from "../index.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const [embedding = "", team = ""] = [...read("../../README.md").matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);

it("shows the example as it is", () => {
  const [, ...lines] = read("../../../../examples/03-team/main.ts").split("\n");
  expect(team).toBe(lines.join("\n"));
});

it("shows how to embed, in lines that run", async () => {
  const lines = embedding.replace(/^import .*\n/gm, "");
  const AsyncFunction = (async () => {}).constructor as typeof Function;
  await new AsyncFunction("runtime", "createMemoryJournal", lines)(runtime, createMemoryJournal);
});
