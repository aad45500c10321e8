import type { CallPreview } from "@troupe/core";
import { describePreview, formatBytes, isOutside } from "@troupe/core/texts";
import type { Output } from "../terminal/terminal.ts";
import { cleanLine, cleanText } from "./clean.ts";
import { wrap } from "./layout.ts";

type EmailPreview = Extract<CallPreview, { kind: "email" }>;
type EventPreview = Extract<CallPreview, { kind: "event" }>;
type MessagePreview = Extract<CallPreview, { kind: "message" }>;
type Style = Pick<Output, "width" | "colours">;

/** The email, event or message of a call as text. Escape sequences of its texts are removed. */
export function previewLines(preview: CallPreview, style: Style): string[] {
  const title = style.colours.bold(describePreview(preview));
  if (preview.kind === "email") return [title, ...emailLines(preview, style)];
  if (preview.kind === "event") return [title, ...eventLines(preview, style)];
  return [title, ...messageLines(preview, style)];
}

function emailLines({ from, to, cc, bcc, external, subject, body, attachments }: EmailPreview, style: Style): string[] {
  const people = (name: string, list: readonly string[]) =>
    list.map((person, i) => field(i === 0 ? name : "", marked(person, external, style), style));
  return [
    field("from", cleanLine(from), style),
    ...people("to", to),
    ...people("cc", cc),
    ...people("bcc", bcc),
    field("subject", cleanLine(subject) || "(no subject)", style),
    ...attachments.map(({ name, bytes }) => field("file", `${cleanLine(name)} (${formatBytes(bytes)})`, style)),
    ...block(body, style),
  ].flat();
}

function eventLines(event: EventPreview, style: Style): string[] {
  const { title, when, repeats, location, attendees, external, visibility, description, changes } = event;
  const { colours } = style;
  return [
    field("title", cleanLine(title) || "(no title)", style),
    field("when", cleanLine(when), style),
    ...(repeats === null ? [] : [field("repeats", cleanLine(repeats), style)]),
    ...(location === null ? [] : [field("where", cleanLine(location), style)]),
    ...attendees.map((person, i) => field(i === 0 ? "people" : "", marked(person, external, style), style)),
    ...(visibility === "public" ? [field("visible", colours.yellow("to everybody (public)"), style)] : []),
    ...changes.flatMap(({ field: name, before, after }) => [
      field(cleanLine(name), colours.red(`- ${cleanLine(before) || "(empty)"}`), style),
      field("", colours.green(`+ ${cleanLine(after) || "(empty)"}`), style),
    ]),
    ...(description === null ? [] : [block(description, style)]),
  ].flat();
}

function messageLines({ channel, thread, text }: MessagePreview, style: Style): string[] {
  return [
    field("channel", cleanLine(channel), style),
    ...(thread === null ? [] : [field("thread", cleanLine(thread), style)]),
    block(text, style),
  ].flat();
}

/** A person outside of the user's own domains is marked. */
function marked(person: string, external: readonly string[], { colours }: Style): string {
  const name = cleanLine(person);
  return isOutside(person, external) ? `${name} ${colours.yellow("(external)")}` : name;
}

const nameWidth = 8;

function field(name: string, text: string, { width, colours }: Style): string[] {
  const lines = wrap(text, width - nameWidth);
  return lines.map((line, i) => `${colours.dim((i === 0 ? name : "").padEnd(nameWidth))}${line}`);
}

/** A text with its line breaks, below a bar that no line of the text can imitate. */
function block(text: string, { width, colours }: Style): string[] {
  const lines = cleanText(text)
    .split("\n")
    .flatMap((line) => wrap(line, width - 2));
  return lines.map((line) => `${colours.dim("│")} ${line}`.trimEnd());
}
