import { misfits } from "../../verifiers/output-schema.ts";
import { verifyAll } from "../../verifiers/verifier.ts";
import type { Perform } from "./effect.ts";

/** Checks a response with the named verifiers and against the output schema. */
export const verify: Perform<"verify"> = async ({ round, verifiers, response }, { deps, request, pin, folder }) => {
  const subject = { response, workspace: folder.path };
  const failures = await verifyAll(deps.verifiers, verifiers, subject);
  const schema = request.outputSchema ?? pin.definition.outputSchema;
  if (schema) failures.push(...misfits(response.details, schema));
  return { kind: "verify.finished", round, failures };
};
