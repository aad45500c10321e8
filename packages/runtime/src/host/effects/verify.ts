import { draftProblems, parseJsonAnswer, type TraceEvent } from "@troupe/core/internal";
import { misfits } from "../../verifiers/output-schema.ts";
import { verifyAll } from "../../verifiers/verifier.ts";
import { checkChild } from "./check-children.ts";
import { checkTool } from "./check-tool.ts";
import type { Perform } from "./effect.ts";

/** Checks a response with the named verifiers and against the output schema, and repeats open checks of children. */
export const verify: Perform<"verify"> = async ({ round, verifiers, response, childChecks = [] }, scope) => {
  const { deps, request, pin, folder } = scope;
  const key = `verify/${round}`;
  const answer = response.details;
  const runTool = checkTool(scope, key);
  const subject = { response, task: request.task, answer, workspace: folder.path, key, runTool };
  const failures = await verifyAll(deps.verifiers, verifiers, subject, deps);
  const events: TraceEvent[] = [];
  for (const check of childChecks) {
    const checked = await checkChild(check, { key, answer, scope });
    failures.push(...checked.failures);
    events.push(...checked.events);
  }
  const schema = request.outputSchema ?? pin.definition.outputSchema;
  if (schema) failures.push(...misfits(response.details, schema));
  if (request.planOf && failures.length === 0)
    failures.push(...draftProblems(parseJsonAnswer(response.details), request.planOf));
  return { kind: "verify.finished", round, failures, ...(events.length > 0 ? { events } : {}) };
};
