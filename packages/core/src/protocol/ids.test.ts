/** The id of a child run follows from its position in its parent, so that a repeated offer is the same run. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../text/any-text.test-helper.ts";
import { childRunId, derivedId, Id, Token } from "./ids.ts";

const parentRun = "00000000-0000-7000-8000-000000000001";
const key = { parentRun, step: 1, call: 0, attempt: 1 };

test("a child's id never changes: journals contain it", () => {
  expect(childRunId(key)).toBe("36af1be3-a861-8b9a-ad9f-857353b2a7aa");
});

test("the first of a batch has the id of a single child: journals without batches stay valid", () => {
  expect(childRunId({ ...key, item: 0 })).toBe("36af1be3-a861-8b9a-ad9f-857353b2a7aa");
  expect(childRunId({ ...key, item: 1 })).toBe("147248cb-c2ca-815a-adf0-40df706fbc30");
});

test.each([
  ["run", { parentRun: "00000000-0000-7000-8000-000000000002" }],
  ["step", { step: 2 }],
  ["call", { call: 1 }],
  ["item", { item: 1 }],
  ["attempt", { attempt: 2 }],
])("another %s is another child", (_, change) => {
  expect(childRunId({ ...key, ...change })).not.toBe(childRunId(key));
});

test("it is a UUIDv8 and a token, always the same, and no two keys share one", () => {
  const keys = fc.record({
    parentRun: fc.uuid({ version: [7, 8] }),
    step: fc.integer({ min: 1, max: 500 }),
    call: fc.nat(200),
    item: fc.oneof(fc.constant(0), fc.nat(200)),
    attempt: fc.integer({ min: 1, max: 10 }),
  });
  const pairs = fc.oneof(
    fc.tuple(keys, keys),
    // As close to each other as two children can be.
    fc.tuple(keys, keys).map(([a, b]) => [a, { ...b, parentRun: a.parentRun, step: a.step, attempt: 1 }] as const),
  );
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const id = childRunId(a);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect([Id.safeParse(id).success, Token.safeParse(id).success]).toEqual([true, true]);
      expect(childRunId({ ...a })).toBe(id);
      expect(childRunId(b) === id).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
});

test("a derived id is a UUIDv8 of its text alone", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(derivedId(text)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(derivedId(text)).toBe(derivedId(`${text}`));
      expect(derivedId(`${text} `)).not.toBe(derivedId(text));
    }),
  );
});

test.each(["", "a.b", "a b", "*", ">", "ü", "a\n", "x".repeat(129)])("%j is not a token", (text) => {
  expect(Token.safeParse(text).success).toBe(false);
});
