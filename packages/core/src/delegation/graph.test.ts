/** A graph of tasks is refused before anything starts, or it can be run. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { edgesOf, findGraphProblem } from "./graph.ts";

/** `a<b,c` is a task `a` that waits for `b` and `c`. */
function nodes(...texts: string[]) {
  return texts.map((text) => {
    const [name = "", after = ""] = text.split("<");
    return { name, after: after.split(",").filter(Boolean) };
  });
}

describe("an invalid graph", () => {
  test.each<[string, string[], string]>([
    ["two tasks with one name", ["a", "b", "a"], 'two tasks are named "a": give each its own name'],
    ["an unknown dependency", ["a", "b<c"], 'after: "b" waits for "c", which is no task here; there are: a, b'],
    ["a task that depends on itself", ["a<a"], "after: a → a is a cycle"],
    ["two tasks that depend on each other", ["a<b", "b<a"], "after: a → b → a is a cycle"],
    [
      "a longer cycle, with tasks before and behind it",
      ["x", "a<x,c", "b<a", "c<b", "y<c"],
      "after: a → c → b → a is a cycle",
    ],
    ["a cycle that other tasks depend on", ["y<a", "a<b", "b<a"], "after: a → b → a is a cycle"],
  ])("%s", (_, texts, problem) => {
    expect(findGraphProblem(nodes(...texts))).toBe(problem);
  });
});

describe("a valid graph", () => {
  test.each<[string, string[]]>([
    ["none", []],
    ["one", ["a"]],
    ["a diamond, in any order", ["d<b,c", "b<a", "c<a", "a"]],
    ["a duplicate dependency", ["a", "b<a,a"]],
  ])("%s", (_, texts) => {
    expect(findGraphProblem(nodes(...texts))).toBeNull();
  });

  test("may be a chain of a thousand tasks, in the worst order", () => {
    const row = Array.from({ length: 1_000 }, (_, i) => ({ name: `t${i}`, after: i < 999 ? [`t${i + 1}`] : [] }));
    expect(findGraphProblem(row)).toBeNull();
  });
});

test("edges hold positions of tasks", () => {
  expect(edgesOf(nodes("d<b,c", "b<a", "c<a", "a"))).toEqual([[1, 2], [3], [3], []]);
});

test("a graph is refused if and only if it has a cycle, and the reported cycle exists", () => {
  const graph = fc.array(fc.array(fc.nat(6), { maxLength: 2 }), { minLength: 7, maxLength: 7 });
  fc.assert(
    fc.property(graph, (after) => {
      const given = after.map((places, i) => ({ name: `t${i}`, after: places.map((place) => `t${place}`) }));
      const problem = findGraphProblem(given);
      const reaches = (from: number, seen = new Set<number>()): Set<number> => {
        for (const next of after[from] ?? []) if (!seen.has(next)) reaches(next, seen.add(next));
        return seen;
      };
      const isCyclic = after.some((_, i) => reaches(i).has(i));
      expect(problem !== null).toBe(isCyclic);
      const path = problem?.match(/t\d/g) ?? [];
      for (let i = 1; i < path.length; i += 1) {
        expect(given.find(({ name }) => name === path[i - 1])?.after).toContain(path[i]);
      }
      expect(path.at(0)).toBe(path.at(-1));
    }),
  );
});
