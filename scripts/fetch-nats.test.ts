import { expect, it } from "vitest";
import { isNewEnough } from "./fetch-nats.ts";

it.each([
  ["2.9.10", false],
  ["2.10.27", false],
  ["2.11.15", false],
  ["2.11.16", true],
  ["2.12.6", false],
  ["2.12.7", true],
  ["2.13.9", false],
  ["2.14.0", true],
  ["2.15.1", true],
  ["3.0.0", true],
])("nats-server %s is new enough: %s", (version, expected) => {
  expect(isNewEnough(version)).toBe(expected);
});
