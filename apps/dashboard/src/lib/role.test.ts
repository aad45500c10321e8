import { expect, it } from "vitest";
import { roleOf } from "./role.ts";

it.each([
  ["coder", "coder"],
  ["senior-coder", "coder"],
  ["code_review", "coder"],
  ["Gmail", "email"],
  ["main", "main"],
  ["constructor", "other"],
  ["", "other"],
])("%j has the icon of %s", (agent, role) => {
  expect(roleOf(agent)).toBe(role);
});
