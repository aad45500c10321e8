/** Names for the ids in the text of a message. */
export interface SlackNames {
  /** Handles by the id of a member. */
  handles: ReadonlyMap<string, string>;
  /** Names by the id of a channel. */
  channels: ReadonlyMap<string, string>;
}

/**
 * The text of a message of Slack as people see it.
 *
 * @example
 * slackText("<@U1> see <https://acme.example|the page> &amp; reply", names); // "@ana see the page (https://acme.example) & reply"
 */
export function slackText(text: string, { handles, channels }: SlackNames): string {
  return text
    .replaceAll("\0", "")
    .replace(/<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>/g, (whole, sign: string, target: string, label?: string) => {
      if (sign === "@") return `@${handles.get(target) ?? label ?? target}`;
      if (sign === "#") return `#${channels.get(target) ?? label ?? target}`;
      if (sign === "!") return label ?? `@${target}`;
      if (target === "") return whole;
      return label === undefined || label === target ? target : `${label} (${target})`;
    })
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
