import type { RunRow } from "./protocol/api.ts";
import type { CallPreview } from "./protocol/call-preview.ts";
import type { LiveEvent } from "./protocol/live.ts";

export { readWholeSession } from "./protocol/whole-session.ts";

/** What the page, the command line and the clients share. This module imports no library, so that the page can bundle it. */

/**
 * Describes a model call that waits for another try, after the name of its agent.
 *
 * @example
 * describeRetry(event); // "was rate-limited: retry in 8 s (2 of 5)"
 */
export function describeRetry({
  type,
  waitMs,
  tries,
  triesMax,
}: Pick<Extract<LiveEvent, { kind: "model.retrying" }>, "type" | "waitMs" | "tries" | "triesMax">): string {
  const why = type === "rate_limit" ? "was rate-limited" : "could not reach its model";
  const count = triesMax === null ? "" : ` (${tries + 1} of ${triesMax})`;
  return `${why}: retry in ${formatWait(waitMs)}${count}`;
}

/**
 * Describes a call that waits for space on a disk, after the name of its agent.
 *
 * @example
 * describeSpaceWait({ waiting: false, message: "" }); // "continues: the disk has enough free space again"
 */
export function describeSpaceWait({
  waiting,
  message,
}: Pick<Extract<LiveEvent, { kind: "disk.waiting" }>, "waiting" | "message">): string {
  return waiting ? `waits for disk space: ${message}` : "continues: the disk has enough free space again";
}

/**
 * The name of a row's agent for people.
 *
 * @example
 * describeAgent({ agent: "coding_planner", team: "coding" }); // "coding/planner"
 * describeAgent({ agent: "planner" }); // "planner"
 */
export function describeAgent({ agent, team }: { agent: string; team?: string | null | undefined }): string {
  return team && agent.startsWith(`${team}_`) ? `${team}/${agent.slice(team.length + 1)}` : agent;
}

/** The status of a run in words, with its position if it is queued, and marked if its last turn had no tools. */
export function describeStatus({
  exactStatus,
  queuePosition,
  answerOnly,
}: Pick<RunRow, "exactStatus"> & {
  queuePosition?: number | null | undefined;
  answerOnly?: string | null | undefined;
}): string {
  if (exactStatus === "completed" && answerOnly) return "completed, answer only";
  if (exactStatus === "queued" && typeof queuePosition === "number") return `queued ${queuePosition}`;
  if (exactStatus === "waiting") return "waiting for approval";
  return exactStatus.replaceAll("_", " ");
}

const eventActions = { create: "New event", update: "Changed event", delete: "Deleted event" } as const;

/** Names the kind of a preview: an email, an event or a message. */
export function describePreview(preview: CallPreview): string {
  if (preview.kind === "event") return eventActions[preview.action];
  return preview.kind === "email" ? "Email" : "Message";
}

/**
 * Whether a person of a preview (`Eve <eve@evil.example>`, or an address) is outside of the user's own domains.
 *
 * @example
 * isOutside("Eve <eve@evil.example>", ["eve@evil.example"]); // true
 */
export function isOutside(person: string, external: readonly string[]): boolean {
  return external.some((address) => person === address || person.endsWith(`<${address}>`));
}

const limits: Readonly<Record<string, string>> = {
  max_iterations: "the limit of steps was reached",
  max_tool_calls: "the limit of tool calls was reached",
  max_tokens: "the limit of tokens was reached",
  max_cost: "the cost limit was reached",
  max_context: "the conversation no longer fits the model",
  timeout: "the time limit was reached",
  repeated_calls: "repeated calls: the same call with the same arguments, again and again",
};

/** Names the limit that ended a run. */
export function describeBailout(reason: string): string {
  return limits[reason] ?? reason.replaceAll("_", " ");
}

function formatWait(waitMs: number): string {
  const seconds = Math.ceil(waitMs / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${twoDigits(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} m`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/**
 * A number of bytes in words.
 *
 * @example
 * formatBytes(1_536); // "1.5 KiB"
 */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_024 && unit < units.length - 1) {
    amount /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
