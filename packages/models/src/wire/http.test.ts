import { expect, test } from "vitest";
import { beginningOf, withShortError } from "./beginning-of.ts";

/** Says this again and again, and tells whether anybody still listens. */
function endless(words: string) {
  const bytes = new TextEncoder().encode(words);
  let isHeard = true;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(bytes),
    cancel: () => {
      isHeard = false;
    },
  });
  return { body, isHeard: () => isHeard };
}

test("of what has no end, the beginning is read, and the rest is not waited for", async () => {
  const { body, isHeard } = endless("für ");
  expect(await beginningOf(new Response(body), 10)).toBe("für für fü");
  expect(isHeard()).toBe(false);
});

test("what is shorter is read whole", async () => {
  expect(await beginningOf(new Response("short"), 10)).toBe("short");
  expect(await beginningOf(new Response(null), 10)).toBe("");
});

test("a refusal without an end is one with a beginning", async () => {
  const { body, isHeard } = endless("no ");
  const short = await withShortError(new Response(body, { status: 418, headers: { "retry-after": "7" } }));
  expect(short.status).toBe(418);
  expect(short.headers.get("retry-after")).toBe("7");
  expect((await short.text()).length).toBe(65_536);
  expect(isHeard()).toBe(false);
});

test("an answer is left as it is", async () => {
  const answer = new Response(endless("yes ").body);
  expect(await withShortError(answer)).toBe(answer);
});
