import { expect, test } from "vitest";
import { unknownAgent } from "./unknown-agent.ts";

test.each([
  [["main", "coder"], 'there is no agent "codr"; available: main, coder', "did you mean coder?"],
  [["main"], 'there is no agent "codr"; available: main', "troupe agents ls"],
  [[], 'there is no agent "codr"; available: none', "troupe agents ls"],
])("with the agents %j", (known, message, fix) => {
  expect(unknownAgent("codr", known)).toMatchObject({ code: "UNKNOWN_AGENT", message, fix });
});

test("with many agents the list ends, and the suggestion still knows all", () => {
  const known = Array.from({ length: 30 }, (_, i) => `agent-${i}`).concat("coder");
  const { message, fix } = unknownAgent("codr", known);
  expect(message).toMatch(/available: agent-0, .*, agent-19 and 11 more$/);
  expect(fix).toBe("did you mean coder?");
});

test("another problem with the name keeps the list and the suggestion", () => {
  const error = unknownAgent("co.der", ["coder"], '"co.der" is not a valid agent id');
  expect(error.message).toBe('"co.der" is not a valid agent id; available: coder');
  expect(error.fix).toBe("did you mean coder?");
});
