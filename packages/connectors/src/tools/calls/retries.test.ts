/** The checks before a call and the retries, on a local office whose connectors fail as ordered. */
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Connector } from "../../ports/connection.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { Connectors } from "../../ports/connectors.ts";
import { openSample, type Sample } from "../office-tools.test-helper.ts";

let sample: Sample | null = null;
afterEach(async () => {
  await sample?.close();
  sample = null;
});

const down = () => new ConnectorError("network", "the server cannot be reached");
const limited = (retryAfterS?: number) =>
  new ConnectorError("rate_limit", "too many calls", retryAfterS === undefined ? {} : { retryAfterS });
const expired = () => new ConnectorError("auth", "the token has expired");

interface Behaviour {
  /** Errors of the calls in their order. `after`: the call happens, and its answer is lost. */
  errors?: (ConnectorError | { after: ConnectorError } | null)[];
  status?: Partial<Awaited<ReturnType<Connector["status"]>>>[];
  refresh?: () => Promise<void>;
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A sample whose mailbox fails as told. `log` lists the operations, waits and log lines. */
async function openFailing({ errors = [], status = [], refresh, wait: ownWait }: Behaviour) {
  const calls: string[] = [];
  const waits: number[] = [];
  const lines: Record<string, unknown>[] = [];
  const operation = async <Result>(name: string, act: () => Promise<Result>): Promise<Result> => {
    calls.push(name);
    const error = name === "refresh" ? null : (errors.shift() ?? null);
    if (error instanceof ConnectorError) throw error;
    const result = await act();
    if (error) throw error.after;
    return result;
  };
  const wrap = (office: Connectors): Connectors => ({
    ...office,
    mail: {
      ...office.mail,
      status: async () => ({ ...(await office.mail.status()), ...(status.length > 1 ? status.shift() : status[0]) }),
      ...(refresh ? { refresh: () => operation("refresh", refresh) } : {}),
      searchMessages: (query) => operation("search", () => office.mail.searchMessages(query)),
      sendMail: (mail, options) => operation("send", () => office.mail.sendMail(mail, options)),
      deliveryStatus: (of) => operation("delivery", () => office.mail.deliveryStatus(of)),
    },
  });
  const logger = { info: (line: object) => lines.push({ ...line }), warn: (line: object) => lines.push({ ...line }) };
  const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
    waits.push(ms);
    await ownWait?.(ms, signal);
  };
  sample = await openSample({ wrap, wait, logger });
  return { sample, calls, waits, lines };
}

const mail = { to: ["mara@lantern.example"], subject: "Secret subject", body: "Secret body" };

describe("an expired token", () => {
  it("is refreshed once, and the call is made again", async () => {
    const { sample: office, calls, waits } = await openFailing({ errors: [expired()], refresh: async () => {} });
    const { output } = await office.call("gmail_search_messages", {});
    expect(output.messages.length).toBeGreaterThan(0);
    expect([calls, waits]).toEqual([["search", "refresh", "search"], []]);
  });

  it("is not refreshed twice", async () => {
    const { sample: office, calls } = await openFailing({ errors: [expired(), expired()], refresh: async () => {} });
    const { output, error } = await office.call("gmail_search_messages", {});
    expect(output.error.type).toBe("auth");
    expect(error).toMatchObject({ type: "auth" });
    expect(calls).toEqual(["search", "refresh", "search"]);
  });

  it("is not refreshed again if the check before the call has done it", async () => {
    const status = [{ auth: "expired" as const }, { auth: "valid" as const }];
    const { sample: office, calls } = await openFailing({ errors: [expired()], status, refresh: async () => {} });
    expect((await office.call("gmail_search_messages", {})).output.error.type).toBe("auth");
    expect(calls).toEqual(["refresh", "search"]);
  });

  it("ends the call if the connector cannot refresh", async () => {
    const { sample: office, calls } = await openFailing({ errors: [expired()] });
    expect((await office.call("gmail_search_messages", {})).output.error.type).toBe("auth");
    expect(calls).toEqual(["search"]);
  });
});

describe("a rate limit", () => {
  it("is waited for as long as the server says", async () => {
    const { sample: office, calls, waits } = await openFailing({ errors: [limited(7), limited()] });
    expect((await office.call("gmail_search_messages", {})).error).toBeUndefined();
    expect([calls.length, waits]).toEqual([3, [7_000, 2_000]]);
  });

  it("ends the call after two retries, with the seconds in the output", async () => {
    const { sample: office, calls } = await openFailing({ errors: [limited(1), limited(2), limited(30)] });
    const { output, error } = await office.call("gmail_search_messages", {});
    expect(output).toEqual({ error: { type: "rate_limit", message: "too many calls", retry_after: 30 } });
    expect(error).toMatchObject({ type: "rate_limit", retryAfterMs: 30_000, recoverable: true });
    expect(calls.length).toBe(3);
  });

  it("ends the call at once if the wait is long", async () => {
    const { sample: office, waits } = await openFailing({ errors: [limited(600)] });
    expect((await office.call("gmail_search_messages", {})).output.error.retry_after).toBe(600);
    expect(waits).toEqual([]);
  });
});

describe("a lost connection", () => {
  it("is tried again three times with growing pauses", async () => {
    const { sample: office, calls, waits } = await openFailing({ errors: [down(), down(), down(), down()] });
    expect((await office.call("gmail_search_messages", {})).output.error.type).toBe("network");
    expect([calls.length, waits]).toEqual([4, [500, 1_000, 2_000]]);
  });

  it("of a send is followed by a question for its delivery, and the mail is not sent again", async () => {
    const { sample: office, calls } = await openFailing({ errors: [{ after: down() }] });
    const { output } = await office.call("gmail_send_email", mail);
    expect(output.delivery_status).toBe("delivered");
    expect(calls).toEqual(["send", "delivery"]);
  });

  it("before a send is followed by the send", async () => {
    const { sample: office, calls } = await openFailing({ errors: [down(), down(), null] });
    expect((await office.call("gmail_send_email", mail)).output.delivery_status).toBe("delivered");
    expect(calls).toEqual(["send", "delivery", "delivery", "send"]);
  });
});

describe("an error that no retry can fix", () => {
  it.each(["params", "permission", "tool_error"] as const)("is not tried again: %s", async (type) => {
    const error = new ConnectorError(type, "the mailbox is closed", { param: "to.0", fix: "ask its owner" });
    const { sample: office, calls, waits } = await openFailing({ errors: [error] });
    const { output, error: outcome } = await office.call("gmail_search_messages", {});
    const expected = { type, message: "the mailbox is closed", param: "to.0", fix: "ask its owner" };
    expect(output).toEqual({ error: expected });
    expect(outcome).toMatchObject({ type, recoverable: false, message: "the mailbox is closed; ask its owner" });
    expect([calls, waits]).toEqual([["search"], []]);
  });
});

describe("before the first call", () => {
  it.each([
    ["a revoked access", { auth: "revoked" }, "auth"],
    ["a connection that can only read", { canWrite: false }, "permission"],
    ["a used up limit", { rateLimit: { remaining: 0, resetsInS: 90 } }, "rate_limit"],
  ] as const)("%s ends a send", async (_, status, type) => {
    const { sample: office, calls } = await openFailing({ status: [status], refresh: async () => {} });
    const { output } = await office.call("gmail_send_email", mail);
    expect(output.error.type).toBe(type);
    expect(calls).toEqual([]);
    if (type === "rate_limit") expect(output.error.retry_after).toBe(90);
  });

  it("an expired access is refreshed", async () => {
    const behaviour = { status: [{ auth: "expired" as const }, { auth: "valid" as const }], refresh: async () => {} };
    const { sample: office, calls } = await openFailing(behaviour);
    expect((await office.call("gmail_send_email", mail)).output.delivery_status).toBe("delivered");
    expect(calls).toEqual(["refresh", "send"]);
  });

  it("a connection that can only read is enough for a search", async () => {
    const { sample: office } = await openFailing({ status: [{ canWrite: false }] });
    expect((await office.call("gmail_search_messages", {})).error).toBeUndefined();
  });
});

describe("a stopped call", () => {
  it("ends its wait, and makes no other try", async () => {
    const stop = new AbortController();
    // The signal ends the wait of 50 seconds.
    const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
      stop.abort();
      await delay(ms, undefined, { signal });
    };
    const { sample: office, calls } = await openFailing({ errors: [limited(50)], wait });
    const call = office.call("gmail_search_messages", {}, { signal: stop.signal });
    await expect(call).rejects.toMatchObject({ runError: { type: "cancelled" } });
    expect(calls).toEqual(["search"]);
  });
});

describe("the log line of a call", () => {
  it("has its facts, and no content", async () => {
    const { sample: office, lines } = await openFailing({ errors: [limited(1), null, down()] });
    await office.call("gmail_send_email", mail);
    await office.call("gmail_send_email", { ...mail, to: [] });
    const facts = { domain: "email", tool: "gmail_send_email", account: "kim@lantern.example", durationMs: 0 };
    expect(lines).toEqual([
      { ...facts, tries: 2, errorType: null },
      { ...facts, account: null, tries: 0, errorType: "params" },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/Secret|mara/);
  });
});
