import type { ApprovalRow, SessionRow } from "@troupe/core";
import { derivedId, type WebhookEvent } from "@troupe/core/internal";
import type { StoredWebhook, WebhookMessage } from "./webhook-store.ts";

/** Rows of the record that can be events. */
export interface EventRows {
  sessions: readonly SessionRow[];
  approvals: readonly ApprovalRow[];
}

interface Happening {
  type: WebhookEvent;
  /** The same for every report of the same event. */
  key: string;
  at: string;
  data: object;
}

const taskCharactersMax = 4_000;
const argumentBytesMax = 32 * 1024;

/** The messages for webhooks about rows: only events after the webhook was added. */
export function messagesOf(webhooks: readonly StoredWebhook[], rows: EventRows): WebhookMessage[] {
  const events = [...rows.sessions.flatMap(settledOf), ...rows.approvals.flatMap(requestedOf)];
  return webhooks.flatMap((webhook) =>
    events
      .filter(({ type, at }) => webhook.events.includes(type) && Date.parse(at) >= webhook.createdAtMs)
      .map(({ type, key, at, data }) => ({
        webhook: webhook.id,
        id: `msg_${derivedId(`${webhook.id}/${type}/${key}`)}`,
        body: JSON.stringify({ type, timestamp: at, data }),
      })),
  );
}

function settledOf({ task, ...row }: SessionRow): Happening[] {
  if (row.completedAt === null || row.status === "pending" || row.status === "running") return [];
  const data = { session: { ...row, task: task.slice(0, taskCharactersMax) } };
  // A further turn settles again, with another root run.
  return [{ type: "session.settled", key: row.rootRun, at: row.completedAt, data }];
}

/** Large arguments are left out: the receiver reads them from the API. */
function requestedOf({ args, ...row }: ApprovalRow): Happening[] {
  if (row.state !== "waiting") return [];
  const isSmall = Buffer.byteLength(JSON.stringify(args)) <= argumentBytesMax;
  const data = { approval: { ...row, ...(isSmall ? { args } : {}) } };
  return [{ type: "approval.requested", key: row.id, at: row.requestedAt, data }];
}
