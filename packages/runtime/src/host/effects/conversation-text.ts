import type { Message } from "@troupe/core";

/** A conversation as one text, for whoever was not part of it. */
export function conversationText(messages: readonly Message[]): string {
  return messages.map(textOf).join("\n\n");
}

function textOf(message: Message): string {
  switch (message.role) {
    case "user":
      return `User: ${message.text}`;
    case "assistant":
      return [
        `Assistant: ${message.text}`,
        ...message.calls.map(({ name, args }) => `[calls ${name} ${JSON.stringify(args)}]`),
      ]
        .join("\n")
        .trimEnd();
    case "tool":
      return `${message.isError ? "Failure" : "Result"} of ${message.name}: ${message.text}`;
  }
}

/** What cutting between the two halves of a character leaves behind. */
const halfCharacter = /^[\uDC00-\uDFFF]/;

/** The end of a text: what was said last matters most. */
export function newestPart(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `[the beginning is left out]\n${text.slice(-charactersMax).replace(halfCharacter, "")}`;
}
