import type { Tool } from "@troupe/core/tool";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { deliveryStatusTool } from "./delivery-status-tool.ts";
import { readMailTools } from "./read-mail-tools.ts";
import { sendMailTools } from "./send-mail-tools.ts";
import { createSentMessages } from "./sent-messages.ts";

/** The tools of the domain email. */
export function createMailTools(deps: OfficeToolDeps): Tool[] {
  const sent = createSentMessages();
  return [...readMailTools(deps), ...sendMailTools(deps, sent), deliveryStatusTool(deps, sent)];
}
