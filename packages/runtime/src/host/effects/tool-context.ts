import type { ToolContext } from "@troupe/core";
import { toolFolderOf } from "../tool-folder.ts";
import type { EffectScope } from "./effect.ts";

/**
 * What a tool sees of the run in whose name it works.
 *
 * @param key names the call within its run, the same for every try of it
 */
export function toolContext(
  { request, pin, signal, folder }: EffectScope,
  key: string,
  { approved, plan }: Pick<ToolContext, "approved" | "plan">,
): ToolContext {
  return {
    session: request.session,
    run: request.run,
    agent: request.agent,
    workspace: folder.path,
    project: toolFolderOf(request),
    grant: pin.grant,
    signal,
    idempotencyKey: `${request.run}/${key}`,
    approved,
    plan,
  };
}
