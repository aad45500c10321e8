import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { didYouMean, nearestNames } from "./nearest-names.ts";

describe("the most similar names", () => {
  it.each([
    { wanted: "raedme.md", names: ["main.ts", "readme.md"], nearest: ["readme.md"] },
    { wanted: "Grep", names: ["glob", "grep", "git"], nearest: ["grep"] },
    { wanted: "reed", names: ["red", "read", "weed", "reads"], nearest: ["read", "red", "weed"] },
    { wanted: "abcd", names: ["abcdef", "abcdefg"], nearest: ["abcdef"] },
    { wanted: "abcd", names: ["ab", "a"], nearest: ["ab"] },
    { wanted: "", names: ["ab", "abc"], nearest: ["ab"] },
    { wanted: "ab", names: ["", "x"], nearest: ["", "x"] },
    { wanted: "kitten", names: ["sitting", "mitten"], nearest: ["mitten", "sitting"] },
    { wanted: "kitten", names: ["completely different"], nearest: [] },
  ])("of $wanted among $names", ({ wanted, names, nearest }) => {
    expect(nearestNames(wanted, names)).toEqual(nearest);
  });

  it("are those with the fewest edits, and none needs more edits than half of its letters", () => {
    const name = fc.string({ unit: fc.constantFrom(..."abAB"), maxLength: 7 });
    fc.assert(
      fc.property(name, fc.array(name, { maxLength: 5 }), (wanted, names) => {
        const from = wanted.toLowerCase();
        const distances = names.map((each) => ({ each, edits: editsBetween(from, each.toLowerCase()) }));
        const near = distances.filter(({ edits }) => edits <= Math.max(2, Math.floor(from.length / 2)));
        const sorted = near.sort((a, b) => a.edits - b.edits || (a.each < b.each ? -1 : 1));
        expect(nearestNames(wanted, names, 5)).toEqual(sorted.map(({ each }) => each));
      }),
    );
  });
});

/** By definition, without a table. */
function editsBetween(from: string, to: string): number {
  if (from === "" || to === "") return from.length + to.length;
  const [one, other] = [from.slice(1), to.slice(1)];
  if (from[0] === to[0]) return editsBetween(one, other);
  return 1 + Math.min(editsBetween(one, to), editsBetween(from, other), editsBetween(one, other));
}

it("a question names the most similar one, if any is similar", () => {
  expect(didYouMean("raed", ["write", "read"])).toBe("did you mean read?");
  expect(didYouMean("raed", ["something else"])).toBeNull();
});
