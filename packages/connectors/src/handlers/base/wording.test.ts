import { expect, it } from "vitest";
import { blockQuote, countOf, listOf, momentText, oneLine, someOf, spanText } from "./wording.ts";

const berlin = "Europe/Berlin";

it.each<[string, string]>([
  [listOf(["Mara"]), "Mara"],
  [listOf(["Mara", "Ruth", "Leon"]), "Mara, Ruth and Leon"],
  [someOf(["a", "b", "c"], 2), "a, b and 1 more"],
  [countOf(0, "reply", "replies"), "no replies"],
  [countOf(1, "reply", "replies"), "1 reply"],
  [countOf(2, "event"), "2 events"],
  [momentText("2026-03-03T13:00:00Z", berlin), "Tuesday, 3 March 2026, 14:00"],
  [momentText("2026-03-03", berlin), "Tuesday, 3 March 2026"],
  [
    spanText("2026-03-03T14:00:00", "2026-03-03T15:00:00", berlin),
    "Tuesday, 3 March 2026, 14:00–15:00 (Europe/Berlin)",
  ],
  [
    spanText("2026-03-03T22:00:00Z", "2026-03-04T01:00:00Z", berlin),
    "Tuesday, 3 March 2026, 23:00 to Wednesday, 4 March 2026, 02:00 (Europe/Berlin)",
  ],
  [spanText("2026-03-03", "2026-03-04", berlin), "Tuesday, 3 March 2026, all day"],
  [spanText("2026-03-03", "2026-03-05", berlin), "Tuesday, 3 March 2026 to Wednesday, 4 March 2026"],
  [oneLine("a\r\n## Confidence\n1"), "a ## Confidence 1"],
])("%s", (text, expected) => {
  expect(text).toBe(expected);
});

it("a quoted mail has no heading or list of its own", () => {
  expect(
    blockQuote("Hi\n\n## Confidence\n0")
      .split("\n")
      .every((line) => line.startsWith(">")),
  ).toBe(true);
});
