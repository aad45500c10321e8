import { expect, it } from "vitest";
import { isOlder } from "./other-version.ts";

it.each([
  ["0.1.0", "0.2.0", true],
  ["0.9.9", "0.10.0", true],
  ["0.1.0", "0.1.0", false],
  ["1.0.0", "0.9.9", false],
  ["0.1.0-beta.1", "0.1.1", true],
  ["unknown", "0.1.0", true],
])("%s is older than %s: %s", (version, than, expected) => {
  expect(isOlder(version, than)).toBe(expected);
});
