/** Results of JSON.parse pass unchanged; other values are refused. */
import { expect, test } from "vitest";
import { Json, JsonObject } from "./json.ts";

test.for(["null", "0", '"a"', "true", "[]", "{}", '{"a":[1,{"b":null}]}', '{"__proto__":1}'])("%s is JSON", (text) => {
  const value: unknown = JSON.parse(text);
  expect(Json.parse(value)).toBe(value);
  expect(JsonObject.safeParse(value).success).toBe(text.startsWith("{"));
});

test.for([
  { what: "nothing", value: undefined },
  { what: "no number", value: Number.NaN },
  { what: "an infinite number", value: [Number.POSITIVE_INFINITY] },
  { what: "a function", value: { a: () => 1 } },
  { what: "a date", value: { a: [new Date(0)] } },
  { what: "a bigint", value: 1n },
  { what: "an absent value", value: { a: undefined } },
])("$what is not JSON", ({ value }) => {
  expect([Json.safeParse(value).success, JsonObject.safeParse(value).success]).toEqual([false, false]);
});
