import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { durationSchema, parseDuration } from "./duration.ts";

describe("a duration", () => {
  test.each([
    ["0", 0],
    ["60000", 60_000],
    ["250ms", 250],
    ["30s", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1h30m", 5_400_000],
    ["1d", 86_400_000],
    ["1m500ms", 60_500],
    [" 5m ", 300_000],
  ])("%j is %d ms", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each([
    "",
    " ",
    "m",
    "5 m",
    "30m1h",
    "5m5m",
    "-5m",
    "1.5h",
    "5M",
    "1e3",
    "soon",
    "99999999999999999999",
    "9999999999999d",
  ])("%j is none", (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  test("reads back any sum of units, in descending order", () => {
    const parts = fc.tuple(...[400, 99, 99, 99, 9_999].map((max) => fc.option(fc.nat({ max }), { nil: null })));
    fc.assert(
      fc.property(parts, ([d, h, m, s, ms]) => {
        const written = Object.entries({ d, h, m, s, ms }).filter(([, count]) => count !== null);
        fc.pre(written.length > 0);
        const text = written.map(([unit, count]) => `${count}${unit}`).join("");
        const hours = (d ?? 0) * 24 + (h ?? 0);
        expect(parseDuration(text)).toBe(((hours * 60 + (m ?? 0)) * 60 + (s ?? 0)) * 1_000 + (ms ?? 0));
      }),
    );
  });

  test("of plain digits is milliseconds", () => {
    fc.assert(fc.property(fc.maxSafeNat(), (n) => void expect(parseDuration(String(n))).toBe(n)));
  });

  test("of any text is null or a whole number that is not negative", () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9dhms .-]*$/));
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseDuration(text);
        expect(parsed === null || (Number.isSafeInteger(parsed) && parsed >= 0)).toBe(true);
      }),
    );
  });
});

describe("the schema", () => {
  const schema = z.strictObject({ waitMs: durationSchema(z.int().min(500)).optional() });

  test.each([
    [{ waitMs: 500 }, { waitMs: 500 }],
    [{ waitMs: "5m" }, { waitMs: 300_000 }],
    [{ waitMs: undefined }, { waitMs: undefined }],
    [{}, {}],
  ])("of %j is %j", (given, read) => {
    expect(schema.parse(given)).toEqual(read);
  });

  test.each([
    [{ waitMs: "soon" }, '"soon" is not a duration; expected milliseconds, or a duration such as'],
    [{ waitMs: "sk-ant-0123456789-0123456789" }, "the text is not a duration"],
    [{ waitMs: "1ms" }, "expected number to be >=500"],
    [{ waitMs: null }, "expected number, received null"],
    [{ waitMs: true }, "expected number, received boolean"],
  ])("refuses %j", (given, message) => {
    expect(schema.safeParse(given).error?.issues[0]?.message).toContain(message);
  });
});
