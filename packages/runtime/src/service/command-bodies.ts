import { TroupeError } from "@troupe/core";
import { z } from "zod";

/** The longest message to a run. */
const steerCharactersMax = 20_000;

const By = z.string().trim().min(1).max(200).default("a person");

/** Bodies of the commands about a run, as `POST /api/v1/runs/:run/…` takes them. */
export const CancelBody = z.object({ reason: z.string().max(500).default("cancelled by the user") });
export const PauseBody = z.object({ by: By });
export const SteerBody = z.object({
  text: z.string().trim().min(1, "the message is empty").max(steerCharactersMax),
  by: By,
});
/** Body of the command that drains a host. */
export const DrainBody = z.object({ by: By });

/** Checks the text of a message to a run, for callers in this process. The HTTP API checks it with `SteerBody`. */
export function checkSteerText(text: string): string {
  const parsed = SteerBody.shape.text.safeParse(text);
  if (parsed.success) return parsed.data;
  const tooLong = text.length > steerCharactersMax;
  throw new TroupeError("USAGE", tooLong ? `the message has ${text.length} characters` : "the message is empty", {
    fix: tooLong ? `shorten it to ${steerCharactersMax} characters, and name files for the rest` : "write a message",
  });
}
