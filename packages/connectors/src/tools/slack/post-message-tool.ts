import type { CallPreview } from "@troupe/core";
import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import { type ChannelMessage, NewChannelMessage } from "../../ports/channels.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { OfficeCall } from "../calls/office-call.ts";
import { changeFields, changingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { ItemId } from "../text/arguments.ts";
import { plainLine, plainText } from "../text/plain-text.ts";
import { ChannelName } from "./read-channel-tools.ts";

const postInput = z.strictObject({
  channel: ChannelName,
  text: NewChannelMessage.shape.text,
  thread_id: ItemId.max(100).nullable().default(null).describe("message_id of a message, to reply in its thread"),
  ...changeFields,
});

const textCharactersMax = 5_000;

/** `slack_post_message`. */
export function postMessageTool(deps: OfficeToolDeps): Tool {
  return changingTool(
    {
      domain: "slack",
      name: "slack_post_message",
      description: "Posts a message in a channel as the user, or with thread_id a reply in a thread.",
      input: postInput,
      // A channel can have guests of other organizations.
      outwardOf: ({ text }) => ({ host: null, characters: text.length }),
      async preview({ channel, text, thread_id }, call) {
        const { name, first } = await placeOf({ channel, thread_id }, call);
        return {
          ...{ kind: "message", channel: `#${name}`, text: plainText(text, textCharactersMax) },
          thread: first === null ? null : plainLine(`${first.author.name}: ${first.text}`, 200),
        } satisfies CallPreview;
      },
      async run({ channel, text, thread_id }, call) {
        const channels = await call.connect("channels", { changes: true });
        const posted = await channels.call((port) => port.postMessage({ channel, text, thread: thread_id }, call.key));
        const { id, channel: place, sentAt, thread } = posted;
        return { output: { message_id: id, channel: place.name, thread_id: thread, posted_at: sentAt } };
      },
    },
    deps,
  );
}

/** The channel, and the message that the new one replies to. Throws `params` if it does not exist. */
async function placeOf(
  { channel, thread_id }: { channel: string; thread_id: string | null },
  call: OfficeCall,
): Promise<{ name: string; first: ChannelMessage | null }> {
  const channels = await call.connect("channels", { changes: true });
  const named = channel.replace(/^#/, "");
  const page = await channels.call((port) =>
    thread_id === null
      ? port.channelMessages({ channel, limit: 1 })
      : port.threadReplies({ channel, message: thread_id, limit: 1 }),
  );
  const [first = null] = page.items;
  if (thread_id === null) return { name: first?.channel.name ?? named, first: null };
  if (first !== null) return { name: first.channel.name, first };
  throw new ConnectorError("params", `#${named} has no message ${JSON.stringify(thread_id)}`, {
    param: "thread_id",
    fix: "read the channel and use the message_id of a message",
  });
}
