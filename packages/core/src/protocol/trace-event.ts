import { z } from "zod";

/** Longest text of an injected message in its trace event. */
const messageLengthMax = 200;

/**
 * An event for the trace of a session. It is stored with the entry that it belongs to, then logged and shown live.
 *
 * @example
 * TraceEvent.parse({ name: "domain_blacklisted", level: "warn", fields: { domain: "example.org" } });
 */
export const TraceEvent = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]*$/),
  level: z.enum(["debug", "info", "warn"]).default("info"),
  fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});
export type TraceEvent = z.infer<typeof TraceEvent>;

/** A check found the files that a sub-agent had to save. */
export function complianceVerified(fields: TraceEvent["fields"] = {}): TraceEvent {
  return { name: "subagent_compliance_verified", level: "info", fields };
}

/** A check found that a sub-agent did not save a file, or that its result does not hold for another reason. */
export function complianceFailed(missingFile: string | null, fields: TraceEvent["fields"] = {}): TraceEvent {
  const missing = missingFile === null ? {} : { missing_file: missingFile };
  return { name: "subagent_compliance_failed", level: "warn", fields: { ...fields, ...missing } };
}

/** The message of a failed check entered the conversation. The event has its first 200 characters. */
export function complianceMessageInjected(message: string, fields: TraceEvent["fields"] = {}): TraceEvent {
  const error = message.slice(0, messageLengthMax);
  return { name: "subagent_compliance_message_injected", level: "warn", fields: { ...fields, error } };
}

/** A crawl no longer fetches pages of a domain, because too many of them do not exist. */
export function domainBlacklisted(domain: string, failures: number): TraceEvent {
  return { name: "domain_blacklisted", level: "warn", fields: { domain, failures } };
}
