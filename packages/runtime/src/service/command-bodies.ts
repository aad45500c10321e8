import { TroupeError } from "@troupe/core";
import { z } from "zod";

const steerCharactersMax = 20_000;

const By = z.string().trim().min(1).max(200).default("a person");

/** What a wish about a run says besides which run it is. */
export const CancelBody = z.object({ reason: z.string().max(500).default("cancelled by the user") });
export const PauseBody = z.object({ by: By });
/** What a wish about a host says besides which one it is. */
export const DrainBody = z.object({ by: By });
export const SteerBody = z.object({
  text: z.string().trim().min(1, "a message needs words").max(steerCharactersMax),
  by: By,
});

/** The words of a message to a run, for callers within the process: whoever calls over HTTP has been checked there. */
export function steerText(text: string): string {
  const parsed = SteerBody.shape.text.safeParse(text);
  if (parsed.success) return parsed.data;
  const tooLong = text.length > steerCharactersMax;
  throw new TroupeError("USAGE", tooLong ? `the message has ${text.length} characters` : "the message is empty", {
    fix: tooLong ? `say it in ${steerCharactersMax} characters, and name files for the rest` : "say something",
  });
}
