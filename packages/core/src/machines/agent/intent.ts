import type { RunSpec } from "../../protocol/entry.ts";
import type { Intent } from "../../protocol/intent.ts";
import type { RunRequest } from "../../protocol/request.ts";

/** The intent of a run from its request alone: no model call, and the same for every replay. */
export function assessDirectly(request: RunRequest, pin: RunSpec): Intent {
  return {
    context: {
      request: request.task,
      tools: pin.grant.tools,
      params: {},
      status: "planning",
      result: null,
      notes: [],
    },
    expectedFormat: request.parent ? "summary and details for the parent agent" : "an answer for the user",
    successCriteria: request.successCriteria ?? "the task is done as it was asked",
    // Nothing has been asked for yet: each tool call is judged by its own risk when it comes.
    risk: "low",
  };
}
