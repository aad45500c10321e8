/** Secrets in content: text and binary files, byte for byte apart from the secret. */
import { describe, expect, test } from "vitest";
import { redactBytes } from "./redact-bytes.ts";
import { createRedactor } from "./redactor.ts";

const redactor = createRedactor({ values: [{ name: "KEY", value: "key-0123456789" }] });
const everyByte = Uint8Array.from({ length: 20_000 }, (_, i) => i % 256);
const key = new TextEncoder().encode("key-0123456789");
const mark = new TextEncoder().encode("[redacted: KEY]");
const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

describe("content without a secret", () => {
  test.each([
    ["text with a byte order mark", new TextEncoder().encode("\uFEFFä ö")],
    ["all bytes", everyByte],
    ["nothing", new Uint8Array()],
  ])("is the same array: %s", (_, bytes) => {
    expect(redactBytes(redactor, bytes)).toBe(bytes);
  });
});

describe("a secret is replaced, and every other byte stays", () => {
  test.each([
    ["in text", new TextEncoder().encode("\uFEFFä "), new TextEncoder().encode(" ö")],
    ["between all bytes, over the border of a chunk", everyByte, everyByte],
    ["at the end of a chunk", everyByte.subarray(0, 8_188), everyByte],
  ])("%s", (_, before, after) => {
    expect(redactBytes(redactor, joined(before, key, after))).toEqual(joined(before, mark, after));
  });
});
