import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import { ConnectorError } from "../../ports/connector-error.ts";
import { readingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { ItemId } from "../text/arguments.ts";
import { deliveryOutput } from "./send-mail-tools.ts";
import type { SentMessages } from "./sent-messages.ts";

/** `gmail_get_delivery_status`. */
export function deliveryStatusTool(deps: OfficeToolDeps, sent: SentMessages): Tool {
  return readingTool(
    {
      domain: "email",
      name: "gmail_get_delivery_status",
      description:
        "Tells the delivery of a sent mail to each recipient. Without message_id: the last mail of this run.",
      input: z.strictObject({ message_id: ItemId.nullable().default(null) }),
      async run({ message_id }, call) {
        const mail = await call.connect("mail");
        const delivery =
          message_id === null
            ? await sent.newest(call.context, mail)
            : await mail.call((port) => port.deliveryStatus({ id: message_id }));
        if (delivery !== null) return { output: deliveryOutput(delivery) };
        throw new ConnectorError("params", "this run has sent no mail", {
          param: "message_id",
          fix: "name the message_id of a sent mail",
        });
      },
    },
    deps,
  );
}
