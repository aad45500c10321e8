import type { StreamConfig } from "@nats-io/jetstream";
import type { RequiredStream } from "./definitions.ts";

/** A setting of an existing stream that differs from the required one. Only the operator changes it, never troupe. */
export interface Drift {
  stream: string;
  setting: string;
  found: string;
  wanted: string;
  /** True if the setting could lose data or run something twice: then nothing starts. Otherwise it is only a warning. */
  dangerous: boolean;
  fix: string;
}

interface Rule {
  setting: keyof StreamConfig;
  dangerous: boolean;
  /** The flag of `nats stream edit` that fixes it. Absent if the stream must be created anew. */
  flag?: (required: RequiredStream) => string;
}

const rules: readonly Rule[] = [
  { setting: "subjects", dangerous: true, flag: ({ subjects }) => `--subjects='${subjects.join(",")}'` },
  { setting: "retention", dangerous: true },
  { setting: "storage", dangerous: true },
  { setting: "discard", dangerous: true, flag: () => "--discard=new" },
  {
    setting: "max_msgs_per_subject",
    dangerous: true,
    flag: (required) => `--max-msgs-per-subject=${required.max_msgs_per_subject}`,
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
 * Compares a stream's configuration with the required one. Settings without a rule belong to the operator: description,
 * placement, compression and others.
 *
 * @example
 * driftOf(found.config, taskStream(names, { replicas: 1 })).filter(({ dangerous }) => dangerous);
 */
export function driftOf(config: StreamConfig, required: RequiredStream): Drift[] {
  return rules.flatMap(({ setting, dangerous, flag }) => {
    const [found, wanted] = [toText(config[setting]), toText(required[setting])];
    if (found === wanted) return [];
    const { name } = required;
    const fix = flag ? `nats stream edit ${name} ${flag(required)}` : recreateFix(name);
    return [{ stream: name, setting, found, wanted, dangerous, fix }];
  });
}

function recreateFix(name: string): string {
  return `this cannot be changed: stop every troupe of this namespace, back up (nats stream backup ${name} FOLDER), remove it (nats stream rm ${name}), and start again`;
}

/** A server treats an absent setting, `false` and "no limit" alike. */
function toText(value: unknown): string {
  if (value === undefined || value === null || value === false) return "no";
  if (value === true) return "yes";
  if (Array.isArray(value)) return [...value].sort().join(", ");
  return String(value);
}
