import { readFileSync } from "node:fs";
import { Budget, Limits } from "@troupe/core";
import { RetryPolicy, Subagents } from "@troupe/core/internal";
import { expect, test } from "vitest";
import { troupeKeys } from "./agent-keys.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("the README names every key that an agent file may have", () => {
  const nested = [Limits, Budget, RetryPolicy, Subagents].flatMap((schema) => Object.keys(schema.shape));
  const missing = [...troupeKeys, ...nested].filter((key) => !readme.includes(`\`${key}\``));
  expect(missing).toEqual([]);
});
