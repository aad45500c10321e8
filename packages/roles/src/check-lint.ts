import { checkProblems } from "@troupe/core/internal";
import type { ProblemReport } from "./problem-report.ts";
import type { Field } from "./yaml-fields.ts";

interface NamedCheck {
  name: string;
  params: Readonly<Record<string, unknown>>;
}

/**
 * Reports verifiers and observers with wrong params, each at its line. An unknown name is only a warning, because a program
 * can add checks of its own; without one, the check fails when it runs.
 *
 * @param key the list, such as `verifiers`
 * @param at position of the list within the field. @default its key
 */
export function lintChecks(
  kind: "verifier" | "observer",
  checks: readonly NamedCheck[],
  { field, key, at = [key], report }: { field: Field; key: string; at?: readonly string[]; report: ProblemReport },
): void {
  for (const [i, check] of checks.entries()) {
    for (const problem of checkProblems(kind, check)) {
      const { path, message, fix } = problem;
      const place = problem.at === "name" ? [...at, i, "name"] : [...at, i, "params", ...path];
      const offset = field.offsetOf(place);
      if (problem.at === "name") report.warn(offset, { code: `unknown-${kind}`, message, fix });
      else report.error(offset, { code: `invalid-${kind}`, message: `${key}[${i}]: ${message}`, fix });
    }
  }
}
