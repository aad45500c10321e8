import type { StreamConfig } from "@nats-io/jetstream";
import type { Wanted } from "./definitions.ts";

/** A stream's setting that is not what it should be. Nobody changes it but the person who owns the server. */
export interface Drift {
  stream: string;
  setting: string;
  found: string;
  wanted: string;
  /** With it something would be lost or done twice: nothing starts. Else it is said, and no more. */
  dangerous: boolean;
  fix: string;
}

interface Rule {
  setting: keyof StreamConfig;
  dangerous: boolean;
  /** The flag of `nats stream edit` that mends it; absent where a stream has to be made anew. */
  flag?: (wanted: Wanted) => string;
}

const rules: readonly Rule[] = [
  { setting: "subjects", dangerous: true, flag: ({ subjects }) => `--subjects='${subjects.join(",")}'` },
  { setting: "retention", dangerous: true },
  { setting: "storage", dangerous: true },
  { setting: "discard", dangerous: true, flag: () => "--discard=new" },
  {
    setting: "max_msgs_per_subject",
    dangerous: true,
    flag: (wanted) => `--max-msgs-per-subject=${wanted.max_msgs_per_subject}`,
  },
  { setting: "discard_new_per_subject", dangerous: true, flag: () => "--discard-per-subject" },
  { setting: "max_age", dangerous: true, flag: () => "--max-age=0" },
  { setting: "no_ack", dangerous: true, flag: () => "--ack" },
  { setting: "sealed", dangerous: true },
  { setting: "max_msgs", dangerous: false, flag: () => "--max-msgs=-1" },
  { setting: "max_bytes", dangerous: false, flag: ({ max_bytes }) => `--max-bytes=${max_bytes}` },
  { setting: "max_msg_size", dangerous: false, flag: () => "--max-msg-size=-1" },
  { setting: "num_replicas", dangerous: false, flag: ({ num_replicas }) => `--replicas=${num_replicas}` },
  { setting: "allow_direct", dangerous: false, flag: () => "--allow-direct" },
  { setting: "deny_delete", dangerous: false },
  { setting: "deny_purge", dangerous: false },
];

/**
 * How a stream differs from what is wanted. What is not wanted in particular is not looked at: description, placement,
 * compression and the like are the owner's.
 *
 * @example
 * driftOf(found.config, taskStream(names, { replicas: 1 })).filter(({ dangerous }) => dangerous);
 */
export function driftOf(found: StreamConfig, wanted: Wanted): Drift[] {
  return rules.flatMap(({ setting, dangerous, flag }) => {
    const [is, shouldBe] = [shown(found[setting]), shown(wanted[setting])];
    if (is === shouldBe) return [];
    const { name } = wanted;
    const fix = flag ? `nats stream edit ${name} ${flag(wanted)}` : remake(name);
    return [{ stream: name, setting, found: is, wanted: shouldBe, dangerous, fix }];
  });
}

function remake(name: string): string {
  return `this cannot be changed: stop every troupe of this namespace, back up (nats stream backup ${name} FOLDER), remove it (nats stream rm ${name}), and start again`;
}

/** Absent, false and "no limit" are the same to a server. */
function shown(value: unknown): string {
  if (value === undefined || value === null || value === false) return "no";
  if (value === true) return "yes";
  if (Array.isArray(value)) return [...value].sort().join(", ");
  return String(value);
}
