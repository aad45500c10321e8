import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createCapture, readWholeCharacters } from "./command-output.ts";

it("the whole output is kept if it fits", () => {
  const capture = createCapture(8);
  for (const part of ["ab", "cdef", "gh"]) capture.add(Buffer.from(part));
  expect(capture.read()).toEqual({ text: "abcdefgh", droppedBytes: 0 });
});

it("the beginning and the end of a longer output are kept, with the size of the missing part", () => {
  const capture = createCapture(8);
  for (const part of ["abc", "defghijklmnop", "q", "rs"]) capture.add(Buffer.from(part));
  expect(capture.read()).toEqual({
    text: "abcdef\n[… 11 bytes of output were left out here …]\nrs",
    droppedBytes: 11,
  });
});

it.each([0, 1, 2, 3, 5, 100])("at most %i bytes are kept, in any chunks", (bytesMax) => {
  for (const step of [1, 3, 64]) {
    const capture = createCapture(bytesMax);
    const all = Buffer.from(Array.from({ length: 1_000 }, (_, i) => 97 + (i % 26)));
    for (let at = 0; at < all.length; at += step) capture.add(all.subarray(at, at + step));
    const { text, droppedBytes } = capture.read();
    const [start = "", end = ""] = text.split(/\n\[… .* …\]\n/);
    expect(start.length + end.length).toBe(bytesMax);
    expect(droppedBytes).toBe(1_000 - bytesMax);
    expect(all.toString()).toMatch(new RegExp(`^${start}.*${end}$`));
  }
});

it("no character is split", () => {
  const capture = createCapture(16);
  capture.add(Buffer.from("€".repeat(20)));
  expect(capture.read()).toEqual({
    text: "€€€€\n[… 45 bytes of output were left out here …]\n€",
    droppedBytes: 45,
  });
});

it("characters that arrive in chunks are joined, from two streams at once", async () => {
  const capture = createCapture(100);
  const [one, other] = [new PassThrough(), new PassThrough()];
  readWholeCharacters(one, capture.add);
  readWholeCharacters(other, capture.add);
  const smile = Buffer.from("😀");
  one.write(smile.subarray(0, 1));
  await turn();
  other.write("x");
  await turn();
  one.write(smile.subarray(1, 3));
  await turn();
  other.write("y");
  await turn();
  one.end(smile.subarray(3));
  await turn();
  expect(capture.read().text).toBe("xy😀");
});

it("binary output is kept as far as it can be decoded", async () => {
  const capture = createCapture(100);
  const stream = new PassThrough();
  readWholeCharacters(stream, capture.add);
  stream.end(Buffer.from([0xff, 0x41, 0xe2, 0x82]));
  await turn();
  expect(capture.read().text).toBe("�A�");
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
