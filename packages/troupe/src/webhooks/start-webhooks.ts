import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { type Clock, type Logger, type RecordReader, TroupeError } from "@troupe/core";
import { derivedId, loadOnce, type WebhookEvent, type Webhooks, type WebPolicy } from "@troupe/core/internal";
import { type EventRows, messagesOf } from "./messages.ts";
import { type Attempt, postMessage } from "./post-message.ts";
import { type OpenMessage, openWebhookStore, type StoredWebhook, toRow } from "./webhook-store.ts";

/** A webhook of the configuration. Its secret is in a variable. */
export interface ConfiguredWebhook {
  url: string;
  events: readonly WebhookEvent[];
  secretVariable: string;
}

export interface WebhookOptions {
  file: string;
  record: Pick<RecordReader, "position" | "changesSince" | "onChange" | "sessions" | "approvals">;
  clock: Clock;
  newId(): string;
  configured: readonly ConfiguredWebhook[];
  env: NodeJS.ProcessEnv;
  policy: WebPolicy;
  logger: Logger;
  /** Open messages. Further events wait in the record. @default 10_000 */
  queueMax?: number;
}

export interface RunningWebhooks extends Webhooks {
  /** Ends attempts that are under way. Their messages are sent after the next start. */
  stop(): Promise<void>;
}

/** Waits between two attempts: about a day in all. After the last one, a message is dead. */
export const retryDelaysMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000];

const webhooksMax = 100;
const atOnceMax = 4;
const storePauseMs = 5_000;
const scannedMax = 10_000;
/** Delivered ids are stored so long, so that a repeated event is known, and so are the bodies of dead messages. */
const rememberedMs = 30 * 86_400_000;

/** Sends events of the record to webhooks. Most homes have none: their store is made with the first one. */
export async function startWebhooks(options: WebhookOptions): Promise<RunningWebhooks> {
  if (options.configured.length > 0 || existsSync(options.file)) return openWebhooks(options);
  const webhooks = loadOnce(() => openWebhooks(options));
  const having = async (id: string): Promise<RunningWebhooks> => {
    const opened = await webhooks.begun();
    if (opened === null) throw unknownWebhook(id);
    return opened;
  };
  return {
    list: async () => (await webhooks.begun())?.list() ?? [],
    add: async (webhook) => (await webhooks.load()).add(webhook),
    remove: async (id) => (await having(id)).remove(id),
    test: async (id) => (await having(id)).test(id),
    resend: async (id) => (await having(id)).resend(id),
    stop: async () => (await webhooks.begun()?.catch(() => null))?.stop(),
  };
}

/**
 * Sends each event at least once.
 *
 * Invariants. W1: an event is in the store before the cursor passes it. W2: a message leaves the state `open` only after an
 * answer with 2xx, or when it is dead; a person can open a dead one again. W3: open messages are bounded; with a full store the cursor waits.
 */
async function openWebhooks(options: WebhookOptions): Promise<RunningWebhooks> {
  const { record, clock, logger, env, policy, queueMax = 10_000 } = options;
  const store = openWebhookStore(options.file);
  const stopping = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  let cancelTimer = (): void => {};
  /** True while the store may lack events before the newest position. */
  let isBehind = true;

  syncConfigured(store, options);
  let hooks = store.list();
  store.prune(clock.now() - rememberedMs);
  store.makeDue(clock.now());
  if (store.position() === null || hooks.length === 0) store.setPosition(record.position());

  const enqueue = (rows: EventRows, position: number): void => {
    const messages = messagesOf(hooks, rows);
    if (messages.length === 0) return;
    isBehind = !store.addAll(messages, clock.now(), queueMax);
    if (!isBehind) store.setPosition(position);
    sendDue();
  };
  const catchUp = async (): Promise<void> => {
    const position = record.position();
    const missed = await record.changesSince(store.position() ?? position);
    // Too many changes, or another record: the newest rows have them. Known messages are not added again.
    const rows = missed ?? {
      sessions: await record.sessions({ limit: scannedMax }),
      approvals: await record.approvals({ waiting: true, limit: scannedMax }),
    };
    isBehind = false;
    const isRecent = ({ completedAt }: { completedAt: string | null }): boolean =>
      completedAt !== null && Date.parse(completedAt) > clock.now() - rememberedMs;
    enqueue({ approvals: rows.approvals, sessions: rows.sessions.filter(isRecent) }, position);
  };
  const secretOf = ({ id, secret }: StoredWebhook): string | null => {
    const variable = options.configured.find(({ url }) => configuredId(url) === id)?.secretVariable;
    return variable === undefined ? secret : env[variable] || null;
  };
  const post = async (hook: StoredWebhook, message: { id: string; body: string }): Promise<Attempt> => {
    const secret = secretOf(hook);
    if (secret !== null) return postMessage({ url: hook.url, secret, message, clock, policy, signal: stopping.signal });
    return { result: "failed", httpStatus: null, error: "the variable with its secret is not set" };
  };
  const send = async (hook: StoredWebhook, message: OpenMessage): Promise<void> => {
    const attempt = await post(hook, message);
    const delayMs = retryDelaysMs[message.tries];
    if (attempt.result === "delivered") store.delivered(message);
    else if (attempt.result === "gone" || delayMs === undefined) store.died(message, attempt.error ?? "");
    else store.postpone(message, clock.now() + delayMs, attempt.error ?? "");
    // The address can have a secret in its path, so it is not logged.
    const facts = { webhook: hook.id, message: message.id, result: attempt.result, httpStatus: attempt.httpStatus };
    logger[attempt.result === "delivered" ? "info" : "warn"](facts, "a webhook was sent");
  };
  const sendThenNext = async (hook: StoredWebhook, message: OpenMessage): Promise<void> => {
    try {
      await send(hook, message);
    } catch (err) {
      if (stopping.signal.aborted) return;
      logger.error({ err, webhook: hook.id }, "a webhook could not be sent");
      // The store failed, and would fail again at once.
      await new Promise<void>((resolve) => clock.after(storePauseMs, resolve));
    }
    underWay.delete(hook.id);
    if (isBehind && store.openCount() < queueMax) void run(catchUp);
    sendDue();
  };
  const sendDue = (): void => {
    cancelTimer();
    if (stopping.signal.aborted) return;
    // One message at a time for each webhook: a slow receiver holds up no other one.
    for (const hook of hooks) {
      if (underWay.has(hook.id) || underWay.size >= atOnceMax) continue;
      const message = store.due(hook.id, clock.now());
      if (message !== null) underWay.set(hook.id, sendThenNext(hook, message));
    }
    const next = store.nextDue();
    if (next !== null && next > clock.now()) cancelTimer = clock.after(next - clock.now(), sendDue);
  };
  const run = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((err) => logger.error({ err }, "the events for webhooks could not be read"));
  };
  const find = (id: string): StoredWebhook => {
    const hook = hooks.find((one) => one.id === id);
    if (hook) return hook;
    throw unknownWebhook(id);
  };

  const stopListening = record.onChange((change) => {
    if (!isBehind) enqueue(change, change.position);
    else if (store.openCount() < queueMax) void run(catchUp);
  });
  await run(catchUp);
  sendDue();

  return {
    list: async () => hooks.map((hook) => toRow(hook, store.countsOf(hook.id))),
    async add({ url, events, secret = newSecret() }) {
      if (hooks.some((hook) => hook.url === url)) {
        throw new TroupeError("CONFLICT", `a webhook already has this address`, { fix: "troupe webhooks ls" });
      }
      if (hooks.length >= webhooksMax) {
        const fix = "troupe webhooks rm ID";
        throw new TroupeError("LIMIT_REACHED", `${webhooksMax} webhooks are the most`, { fix });
      }
      const hook: StoredWebhook = {
        ...{ id: options.newId(), url, events: [...new Set(events)], secret },
        ...{ origin: "user", createdAtMs: clock.now() },
      };
      store.put(hook);
      hooks = store.list();
      return { webhook: toRow(hook, store.countsOf(hook.id)), secret };
    },
    async remove(id) {
      const hook = find(id);
      if (hook.origin === "config") {
        const message = `the webhook ${id} is set by the configuration`;
        throw new TroupeError("CONFLICT", message, { fix: "remove it from the file: troupe config path" });
      }
      const row = toRow(hook, store.countsOf(id));
      store.remove(id);
      hooks = store.list();
      return row;
    },
    async test(id) {
      const body = JSON.stringify({
        ...{ type: "webhook.test", timestamp: new Date(clock.now()).toISOString(), data: { webhook: id } },
      });
      const { result, httpStatus, error } = await post(find(id), { id: `msg_${options.newId()}`, body });
      return { id, delivered: result === "delivered", httpStatus, error };
    },
    async resend(id) {
      const hook = find(id);
      const resent = store.revive(hook.id, clock.now(), queueMax);
      logger.info({ webhook: hook.id, resent }, "messages that were given up are sent again");
      sendDue();
      return { id, resent, left: store.countsOf(hook.id).dead };
    },
    async stop() {
      stopListening();
      cancelTimer();
      stopping.abort(new TroupeError("CLOSING", "the daemon stops"));
      await Promise.all(underWay.values());
      store.close();
    },
  };
}

function unknownWebhook(id: string): TroupeError {
  return new TroupeError("UNKNOWN_WEBHOOK", `there is no webhook ${JSON.stringify(id)}`, { fix: "troupe webhooks ls" });
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** A configured webhook keeps its id, and so its messages, over restarts. */
function configuredId(url: string): string {
  return derivedId(`webhook/${url}`);
}

/** Adds new webhooks of the configuration, and removes webhooks that left it. */
function syncConfigured(
  store: ReturnType<typeof openWebhookStore>,
  { configured, clock }: Pick<WebhookOptions, "configured" | "clock">,
): void {
  const wanted = new Set(configured.map(({ url }) => configuredId(url)));
  for (const { id, origin } of store.list()) if (origin === "config" && !wanted.has(id)) store.remove(id);
  for (const { url, events } of configured) {
    const id = configuredId(url);
    store.put({ id, url, events: [...events], secret: null, origin: "config", createdAtMs: clock.now() });
  }
}
