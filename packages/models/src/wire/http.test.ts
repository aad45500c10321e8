import { expect, test } from "vitest";
import { readTextUpTo, withShortError } from "./http.ts";

/** A body that repeats this text for ever, and knows whether it was cancelled. */
function endless(words: string) {
  const bytes = new TextEncoder().encode(words);
  let isOpen = true;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(bytes),
    cancel: () => {
      isOpen = false;
    },
  });
  return { body, isOpen: () => isOpen };
}

test("of an endless body only the beginning is read", async () => {
  const { body, isOpen } = endless("für ");
  expect(await readTextUpTo(new Response(body), 10)).toBe("für für fü");
  expect(isOpen()).toBe(false);
});

test("a shorter body is read whole", async () => {
  expect(await readTextUpTo(new Response("short"), 10)).toBe("short");
  expect(await readTextUpTo(new Response(null), 10)).toBe("");
});

test("an endless error body is cut", async () => {
  const { body, isOpen } = endless("no ");
  const short = await withShortError(new Response(body, { status: 418, headers: { "retry-after": "7" } }));
  expect(short.status).toBe(418);
  expect(short.headers.get("retry-after")).toBe("7");
  expect((await short.text()).length).toBe(65_536);
  expect(isOpen()).toBe(false);
});

test("a successful response stays as it is", async () => {
  const answer = new Response(endless("yes ").body);
  expect(await withShortError(answer)).toBe(answer);
});
