import type { AgentDefinition } from "@troupe/core";
import type { Report } from "./report.ts";
import type { Target } from "./tool-list.ts";
import type { Fields } from "./yaml-fields.ts";

/** Finds settings of one file that are each sound but cannot hold together. */
export function reportContradictions(
  definition: AgentDefinition,
  targets: readonly Target[],
  fields: Fields,
  report: Report,
): void {
  const { id, domain, contextMode, retry } = definition;
  const placeOf = (...path: string[]): number => fields.get("troupe")?.offsetOf(path) ?? 0;
  const [target] = targets;
  if (domain !== null && target) {
    report.error(target.offset, {
      code: "domain-agent-delegates",
      message: `${id} is an agent of the domain ${domain}, which never delegates, but may delegate to ${target.id}`,
      fix: "remove those that it may delegate to, or the line domain:",
    });
  }
  if (domain !== null && contextMode !== "task_only") {
    report.warn(placeOf("contextMode"), {
      code: "ignored-context-mode",
      message: `contextMode: ${contextMode} has no effect: an agent of a domain gets its message and nothing else`,
      fix: "remove the line",
    });
  }
  if (retry.alternative === id) {
    report.error(placeOf("retry", "alternative"), {
      code: "self-alternative",
      message: `${id} is its own alternative; whoever failed is not asked again`,
      fix: "name another agent, or remove the line; maxAttempts says how often it is tried itself",
    });
  }
}
