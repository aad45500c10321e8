import { TroupeError } from "@troupe/core";
import { WebhookDraft, type WebhookRow, type Webhooks } from "@troupe/core/internal";
import { checkIsFolder } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { shortIds } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { joinOwner } from "../session/join-or-start.ts";
import { resolveWebhook } from "../session/resolve-ids.ts";

/** `troupe webhooks ls`: lists the webhooks with the state of their messages. */
export async function listWebhooks(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  await checkIsFolder(cli.home);
  const rows =
    (await (await joinOwner(cli))?.client.webhooks?.list()) ?? (await cli.composition.readWebhooks(cli.home));
  if (flags.json) out.line(jsonLine(rows));
  else if (rows.length === 0) err.line("no webhooks yet; to add one: troupe webhooks add URL");
  else for (const line of tableOf(rows, cli)) out.line(line);
  return 0;
}

/** `troupe webhooks add`: adds a webhook. The secret is printed here and nowhere else. */
export async function addWebhook(cli: Cli, url: string, flags: { events: string; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const events = flags.events.split(",").map((name) => name.trim());
  const draft = WebhookDraft.safeParse({ url, events });
  if (!draft.success) {
    const [issue] = draft.error.issues;
    const isUrl = issue?.path[0] === "url";
    throw new TroupeError(
      "USAGE",
      isUrl ? `${JSON.stringify(url)} cannot be a webhook` : `unknown events: ${flags.events}`,
      {
        fix: isUrl ? (issue?.message ?? "") : "use --events session.settled,approval.requested",
      },
    );
  }
  const { webhook, secret } = await (await webhooksOf(cli)).add(draft.data);
  if (flags.json) out.line(jsonLine({ webhook, secret }));
  else {
    out.line(`added ${webhook.id}`);
    out.line(`secret: ${secret}`);
    err.line("keep the secret now: it is not shown again. Try it: troupe webhooks test ID");
  }
  return 0;
}

/** `troupe webhooks rm`: removes a webhook with its messages. */
export async function removeWebhook(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const webhooks = await webhooksOf(cli);
  const row = await webhooks.remove(resolveWebhook(await webhooks.list(), given));
  cli.terminal.out.line(flags.json ? jsonLine(row) : `removed ${row.id}: ${cleanLine(row.url)}`);
  return 0;
}

/** `troupe webhooks test`: sends a test message. Exit code 1 if it did not arrive. */
export async function testWebhook(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const webhooks = await webhooksOf(cli);
  const outcome = await webhooks.test(resolveWebhook(await webhooks.list(), given));
  if (flags.json) out.line(jsonLine(outcome));
  else if (outcome.delivered) out.line(`delivered: the receiver answered ${outcome.httpStatus}`);
  else out.line(`not delivered: ${cleanLine(outcome.error ?? "")}`);
  return outcome.delivered ? 0 : 1;
}

/** `troupe webhooks resend`: sends the messages that were given up again. Exit code 1 if one of them cannot be sent. */
export async function resendWebhook(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const webhooks = await webhooksOf(cli);
  const outcome = await webhooks.resend(resolveWebhook(await webhooks.list(), given));
  const { id, resent, left } = outcome;
  if (flags.json) out.line(jsonLine(outcome));
  else {
    out.line(`${resent === 1 ? "1 message is" : `${resent} messages are`} sent again: troupe webhooks ls`);
    if (left > 0) out.line(`${left} stay given up: the queue is full, or their content is older than 30 days (${id})`);
  }
  return left > 0 ? 1 : 0;
}

/** The running daemon sends the messages, so it holds the webhooks. */
async function webhooksOf(cli: Cli): Promise<Webhooks> {
  const webhooks = (await joinOwner(cli))?.client.webhooks;
  if (webhooks) return webhooks;
  throw new TroupeError("UNREACHABLE", `no daemon runs in the home ${cli.home.path}`, { fix: "troupe up" });
}

function tableOf(rows: readonly WebhookRow[], { terminal: { out } }: Cli): string[] {
  const { colours } = out;
  const short = shortIds(rows.map(({ id }) => id));
  const heads = ["WEBHOOK", "OPEN", "SENT", "DEAD", "EVENTS", "URL"];
  const head: Cell[] = heads.map((text) => ({ text, paint: colours.dim }));
  const body = rows.map((row): Cell[] => [
    { text: short(row.id), paint: colours.bold },
    { text: String(row.open) },
    { text: String(row.delivered) },
    { text: String(row.dead), ...(row.dead > 0 ? { paint: colours.red } : {}) },
    { text: row.events.join(",") },
    { text: cleanLine(row.url) },
  ]);
  const [first = "", ...lines] = layout([{}, {}, {}, {}, {}, { flexible: true }], [head, ...body], out.width);
  const notes = rows.map(({ lastError }) => (lastError === null ? [] : [`  last failure: ${cleanLine(lastError)}`]));
  return [first, ...lines.flatMap((line, i) => [line, ...(notes[i] ?? [])])];
}
