/** The border: bytes in, values that may be trusted out, or an error that says where it went wrong. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { decode, decodeText, encode } from "./codec.ts";
import { RunRequest } from "./request.ts";
import { RunError } from "./run-error.ts";

const Point = z.object({ x: z.int(), inner: z.object({ names: z.array(z.string()) }) });
const point = { x: 1, inner: { names: ["a", "ü", "😀"] } };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test("an encoded message is decoded to the same value", () => {
  expect(decode(Point, encode(point), "point")).toEqual(point);
});

test("any JSON value survives encoding and decoding", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(decode(z.unknown(), encode(value), "value")).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

describe("an invalid message is refused with the path of the problem", () => {
  test.each([
    ["nothing", "", 'point is not JSON: ""'],
    ["half", '{"x":', 'point is not JSON: "{\\"x\\":"'],
    ["another type", "7", "point does not fit its schema: "],
    ["null", "null", "point does not fit its schema: "],
    ["a field of another type", '{"x":"1","inner":{"names":[]}}', "point does not fit its schema at x: "],
    ["deep inside", '{"x":1,"inner":{"names":["a",2]}}', "point does not fit its schema at inner.names.1: "],
    ["a field missing", '{"x":1}', "point does not fit its schema at inner: "],
  ])("%s", (_, text, message) => {
    for (const run of [() => decode(Point, bytesOf(text), "point"), () => decodeText(Point, text, "point")]) {
      expect(run).toThrow(
        expect.objectContaining({ code: "INVALID_MESSAGE", message: expect.stringContaining(message) }),
      );
    }
  });

  test("bytes that are not UTF-8", () => {
    const run = () => decode(Point, new Uint8Array([0x7b, 0xff, 0x7d]), "point");
    expect(run).toThrow(expect.objectContaining({ code: "INVALID_MESSAGE", message: "point is not UTF-8" }));
  });

  test("a long text is quoted in part", () => {
    expect(() => decodeText(Point, "x".repeat(10_000), "point")).toThrow(/^point is not JSON: "x{60}"…$/);
  });

  test("a later version of the protocol", () => {
    expect(() => decodeText(RunRequest, '{"v":2}', "request")).toThrow(/request does not fit its schema at v: /);
  });
});

test("random bytes are refused as INVALID_MESSAGE", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => decode(RunError, bytes, "error")).toThrow(expect.objectContaining({ code: "INVALID_MESSAGE" }));
    }),
  );
});

test("a message with too much nesting is refused like any other invalid message", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  expect(() => decodeText(z.object({ data: z.json() }), `{"data":${deep}}`, "message")).toThrow(
    expect.objectContaining({ code: "INVALID_MESSAGE", message: "message is nested too deeply" }),
  );
});
