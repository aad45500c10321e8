/** Child runs have ids that follow from what they are, so that offering one twice is offering it once. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { childRunId, Id, Token } from "./ids.ts";

const parentRun = "00000000-0000-7000-8000-000000000001";
const key = { parentRun, step: 1, call: 0, attempt: 1 };

test("a child's id never changes: journals hold it", () => {
  expect(childRunId(key)).toBe("36af1be3-a861-8b9a-ad9f-857353b2a7aa");
});

test.each([
  ["run", { parentRun: "00000000-0000-7000-8000-000000000002" }],
  ["step", { step: 2 }],
  ["call", { call: 1 }],
  ["attempt", { attempt: 2 }],
])("another %s is another child", (_, change) => {
  expect(childRunId({ ...key, ...change })).not.toBe(childRunId(key));
});

test("it is a UUIDv8 and a token, always the same, and no two keys share one", () => {
  const keys = fc.record({
    parentRun: fc.uuid({ version: [7, 8] }),
    step: fc.integer({ min: 1, max: 500 }),
    call: fc.nat(200),
    attempt: fc.integer({ min: 1, max: 10 }),
  });
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      const id = childRunId(a);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect([Id.safeParse(id).success, Token.safeParse(id).success]).toEqual([true, true]);
      expect(childRunId({ ...a })).toBe(id);
      expect(childRunId(b) === id).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
});

test.each(["", "a.b", "a b", "*", ">", "ü", "a\n", "x".repeat(129)])("%j is no token", (text) => {
  expect(Token.safeParse(text).success).toBe(false);
});
