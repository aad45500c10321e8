/** Splits large files in bounded memory, wherever the chunks end. */
import { expect, it } from "vitest";
import { splitMbox } from "./split-mbox.ts";

async function partsOf(text: string, chunkSize: number, bytesMax?: number) {
  async function* chunks() {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  }
  const parts: (string | null)[] = [];
  for await (const { raw, problem } of splitMbox(chunks(), bytesMax === undefined ? {} : { bytesMax })) {
    parts.push(raw?.toString() ?? problem);
  }
  return parts;
}

const text = "From a\nSubject: 1\n\n>From x\n>>From y\nFrom z\n\nFrom b\r\nSubject: 2\r\n\r\nend";

it.each([1, 2, 7, 1_000])("gives the same messages for chunks of %i bytes", async (chunkSize) => {
  expect(await partsOf(text, chunkSize)).toEqual([
    "Subject: 1\n\nFrom x\n>From y\nFrom z\n\n",
    "Subject: 2\r\n\r\nend",
  ]);
});

it("leaves out a message that is too large, also in one line without an end", async () => {
  const large = `From a\n\n${"x".repeat(1_000)}\n\nFrom b\n\nsmall`;
  expect(await partsOf(large, 64, 100)).toEqual(["has 1003 bytes, and at most 100 are read", "\nsmall"]);
});

it("finds nothing in a text without a message", async () => {
  expect(await partsOf("hello\nFrom here", 3)).toEqual([]);
});
