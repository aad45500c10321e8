import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, hashBytes, hashText } from "./hash.ts";

test("the hash is SHA-256 in hex, of bytes and of a text's UTF-8", () => {
  expect(hashText("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(hashText("ü😀")).toBe(hashBytes(new TextEncoder().encode("ü😀")));
});

describe("canonical JSON", () => {
  test.each([
    [{ b: 1, a: { d: [2, { z: 1, y: 2 }], c: null } }, '{"a":{"c":null,"d":[2,{"y":2,"z":1}]},"b":1}'],
    [[3, 1, 2], "[3,1,2]"],
    ["ü", '"ü"'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [JSON.parse('{"b":1,"__proto__":{"a":2}}'), '{"__proto__":{"a":2},"b":1}'],
  ])("%j", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test("equal values have equal text, in any order of their keys", () => {
    const shuffled = (value: unknown, from: () => number): unknown => {
      if (Array.isArray(value)) return value.map((item) => shuffled(item, from));
      if (value === null || typeof value !== "object") return value;
      const entries = Object.entries(value).map(([key, item]) => ({ key, item, order: from() }));
      entries.sort((a, b) => a.order - b.order);
      return Object.fromEntries(entries.map(({ key, item }) => [key, shuffled(item, from)]));
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.infiniteStream(fc.nat()), (value, stream) => {
        const other = shuffled(value, () => stream.next().value as number);
        expect(canonicalJson(other)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
