import type { RunRequest } from "@troupe/core";
import { misfits } from "../verifiers/output-schema.ts";
import type { Verifiers } from "../verifiers/verifier.ts";
import type { Recording } from "./recording.ts";

/**
 * Verifiers that check nothing: what was found the last time is found again. That an answer does not fit its schema is
 * found out anew, and not by these.
 */
export function createReplayVerifiers(recording: Recording, { run }: Pick<RunRequest, "run">): Verifiers {
  const [opened] = recording.entriesOf(run);
  if (opened?.kind !== "run.opened") return {};
  const { request, pin } = opened;
  const schema = request.outputSchema ?? pin.definition.outputSchema;
  const names = pin.definition.verifiers.map(({ name }) => name);
  let round = 0;
  return Object.fromEntries(
    names.map((name, place) => [
      name,
      async ({ response }) => {
        if (place > 0) return [];
        round += 1;
        const answer = recording.answerTo(run, `verify/${round}`);
        if (answer?.kind !== "verify.finished") return [];
        const ofSchema = schema ? misfits(response.details, schema).length : 0;
        return answer.failures.slice(0, answer.failures.length - ofSchema);
      },
    ]),
  );
}
