import type { CallPreview } from "@troupe/core";
import type { CallRisk } from "@troupe/core/tool";

/** More recipients or attendees than this make a call a mass mailing. */
export const recipientsMax = 5;

/**
 * The risk of a message or event: high for people outside of the organization, for more than 5 people, for a public event, and
 * for a deletion. Medium for everything else.
 *
 * @example
 * riskOfPreview(preview); // { risk: "high", reason: "john@acme.example is outside of your own domains" }
 */
export function riskOfPreview(preview: CallPreview): CallRisk {
  const reasons = reasonsOf(preview);
  return reasons.length === 0 ? { risk: "medium", reason: null } : { risk: "high", reason: reasons.join(", and ") };
}

function reasonsOf(preview: CallPreview): string[] {
  switch (preview.kind) {
    case "email": {
      const { to, cc, bcc, external } = preview;
      return [...outsideReason(external), ...countReason(to.length + cc.length + bcc.length, "recipients")];
    }
    case "event": {
      const { action, visibility, attendees, external } = preview;
      return [
        ...(action === "delete" ? ["it deletes an event"] : []),
        ...(visibility === "public" ? ["people outside can see a public event"] : []),
        ...outsideReason(external),
        ...countReason(attendees.length, "attendees"),
      ];
    }
    case "message":
      return [];
  }
}

const shownMax = 3;

function outsideReason(external: readonly string[]): string[] {
  if (external.length === 0) return [];
  const more = external.length - shownMax;
  const names = external.slice(0, shownMax).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [`${names} ${external.length === 1 ? "is" : "are"} outside of your own domains`];
}

function countReason(count: number, noun: string): string[] {
  return count > recipientsMax ? [`it has ${count} ${noun}`] : [];
}
