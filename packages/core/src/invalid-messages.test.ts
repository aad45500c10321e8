import { describe, expect, test } from "vitest";
import { createInvalidMessages } from "./invalid-messages.ts";

describe("the counter of invalid messages", () => {
  test("counts every message, in total and by kind and subject area", () => {
    const messages = createInvalidMessages();
    messages.note("malformed", "troupe.live.s1.r1");
    messages.note("malformed", "troupe.live.s2.r2");
    messages.note("newer", "troupe.control.a");
    expect([messages.count, messages.counts()]).toEqual([3, { "malformed live": 2, "newer control": 1 }]);
  });

  test("reports whether a message is the first of its kind, subject area and reason", () => {
    const messages = createInvalidMessages();
    const firsts = [
      messages.note("foreign", "troupe.host.a"),
      messages.note("foreign", "troupe.host.b"),
      messages.note("foreign", "troupe.live.s1"),
      messages.note("foreign", "troupe.host.a", "another name"),
      messages.note("foreign", "troupe.host.b", "another name"),
    ];
    expect(firsts).toEqual([true, false, true, true, false]);
  });
});
