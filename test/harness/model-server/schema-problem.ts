import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** The first thing about a body that its schema does not allow. */
export interface SchemaProblem {
  path: (string | number)[];
  kind: "missing" | "unknown" | "invalid";
  issue: Issue;
}

/** Of the alternatives of a union the one counts that came farthest: the others were not meant. */
export function schemaProblemOf(error: z.ZodError, body: unknown): SchemaProblem {
  const [first] = error.issues;
  if (!first) throw new Error("an error without an issue");
  const { issue, path } = innermost(first, []);
  if (issue.code === "unrecognized_keys") return { kind: "unknown", path: [...path, issue.keys[0] ?? ""], issue };
  return { kind: at(body, path) === undefined ? "missing" : "invalid", path, issue };
}

function innermost(issue: Issue, above: (string | number)[]): { issue: Issue; path: (string | number)[] } {
  const path = [...above, ...issue.path.map((key) => (typeof key === "number" ? key : String(key)))];
  if (issue.code !== "invalid_union") return { issue, path };
  const inner = issue.errors.flatMap(([first]) => (first ? [innermost(first, path)] : []));
  const deepest = inner.reduce((best, next) => (depthOf(next) > depthOf(best) ? next : best), { issue, path });
  return deepest;
}

/** An unknown key lies one deeper than where it is reported. */
function depthOf({ issue, path }: { issue: Issue; path: readonly unknown[] }): number {
  return path.length + (issue.code === "unrecognized_keys" ? 1 : 0);
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string | number, unknown>)[key] : undefined,
    value,
  );
}
