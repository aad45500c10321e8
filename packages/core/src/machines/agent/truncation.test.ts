/** Only the run of a result reads how to recall the rest of it. */
import { expect, test } from "vitest";
import { asHistory } from "./result-placeholders.ts";
import { truncationNotice, withoutRecallHints } from "./truncation.ts";

const cut = { from: 700, to: 900, length: 1_000 };
const own = truncationNotice({ ...cut, rest: { reference: "3/1" } });
const left = "\n[cut: characters 700 to 900 of 1000 are left out]\n";

test("the notice names the call that reads on from the cut", () => {
  expect(own).toBe(
    '\n[cut: characters 700 to 900 of 1000 are left out; to read them, call recall with {"result":"3/1","from":700}]\n',
  );
  const why = truncationNotice({ ...cut, rest: { why: "they are not kept" } });
  expect(why).toBe("\n[cut: characters 700 to 900 of 1000 are left out; they are not kept]\n");
});

test("another run reads the missing length, without a way to recall it", () => {
  expect(withoutRecallHints(`a${own}b${own}c`)).toBe(`a${left}b${left}c`);
  const why = truncationNotice({ ...cut, rest: { why: "they are not kept" } });
  expect(withoutRecallHints(`a${why}b`)).toBe(`a${why}b`);
});

test("in a later turn the results of an earlier turn cannot be recalled", () => {
  const quote = { role: "user", text: `quoted:${own}` } as const;
  const result = { role: "tool", callId: "1", name: "read", text: `a${own}b`, isError: false } as const;
  expect(asHistory([quote, result], { tools: [] })).toEqual([quote, { ...result, text: `a${left}b` }]);
});
