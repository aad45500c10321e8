import { type ModelProvider, ModelReply, type ModelRequest, RunError } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import { expect, test } from "vitest";

export interface ModelProviderHarness {
  provider: ModelProvider;
  /** The smallest limit that its vendor takes for an answer. @default 1 */
  outputTokensMin?: number;
  /** The price of the model of `requests.text`; null if it is unknown. */
  price: ModelPrice | null;
  /** A request for each of the ways in which a call can go. */
  requests: {
    /** Answered with a text of several words, and no calls. */
    text: ModelRequest;
    /** Answered with two calls or more in one turn. */
    calls: ModelRequest;
    /** Fails, for a reason that may pass. */
    failing: ModelRequest;
    /** Answered so late that a test cannot wait for it. */
    slow: ModelRequest;
  };
}

/** The contract of the ModelProvider port, tested on each provider. */
export function modelProviderConformance(create: () => ModelProviderHarness): void {
  test("has an id that is a valid prefix of model names", () => {
    const { provider, requests } = create();
    expect(provider.id).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(requests.text.model.startsWith(`${provider.id}/`)).toBe(true);
  });

  test("streams deltas that join to the text", async () => {
    const { provider, requests } = create();
    const deltas: string[] = [];
    const reply = await provider.call(requests.text, { ...patient(), onDelta: (delta) => deltas.push(delta) });

    expect(ModelReply.parse(reply)).toEqual(reply);
    expect(reply).toMatchObject({ calls: [], stopReason: "end" });
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe(reply.text);
    expect(reply.usage.outputTokens).toBeGreaterThan(0);
  });

  test("keeps to the output limit, and marks a truncated reply", async () => {
    const { provider, requests, outputTokensMin = 1 } = create();
    const deltas: string[] = [];
    const request = { ...requests.text, maxOutputTokens: outputTokensMin };
    const reply = await provider.call(request, { ...patient(), onDelta: (delta) => deltas.push(delta) });

    expect(ModelReply.parse(reply)).toEqual(reply);
    expect(reply).toMatchObject({ calls: [], stopReason: "max_tokens" });
    expect(reply.usage.outputTokens).toBeLessThanOrEqual(outputTokensMin);
    expect(deltas.join("")).toBe(reply.text);
  });

  test("has a known price or null, and asking for it never fails", async () => {
    const { provider, requests, price } = create();
    expect(await provider.priceOf(requests.text.model)).toEqual(price && expect.objectContaining(price));
    expect(await provider.priceOf(`${provider.id}/there is no such model`)).toBeNull();
  });

  test("has a cost of a call that follows from its price", async () => {
    const { provider, requests, price } = create();
    const { usage } = await provider.call(requests.text, patient());
    if (price === null) return expect(usage.costUsd).toBeNull();
    const most = (usage.inputTokens * price.inputPerMillion + usage.outputTokens * price.outputPerMillion) / 1_000_000;
    expect(usage.costUsd).toBeGreaterThan(0);
    expect(usage.costUsd).toBeLessThanOrEqual(most);
  });

  test("has unique ids for the calls of one turn", async () => {
    const { provider, requests } = create();
    const reply = await provider.call(requests.calls, patient());

    expect(ModelReply.parse(reply)).toEqual(reply);
    expect(reply.stopReason).toBe("tool_calls");
    expect(reply.calls.length).toBeGreaterThan(1);
    expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(reply.calls.length);
  });

  test("has a type and a recoverability for each failure", async () => {
    const { provider, requests } = create();
    const error = await failureOf(provider.call(requests.failing, patient()));
    expect(error).toMatchObject({ recoverable: true });
  });

  test("stops a call at once that is aborted, without further deltas", async () => {
    const { provider, requests } = create();
    const abort = new AbortController();
    let deltasAfter = 0;
    const call = provider.call(requests.slow, {
      signal: abort.signal,
      onDelta: () => {
        if (abort.signal.aborted) deltasAfter += 1;
      },
    });
    abort.abort();

    expect((await failureOf(call)).type).toBe("cancelled");
    expect(deltasAfter).toBe(0);
  });

  test("does not start a call that was aborted before", async () => {
    const { provider, requests } = create();
    const call = provider.call(requests.text, { signal: AbortSignal.abort(), onDelta: () => {} });
    expect((await failureOf(call)).type).toBe("cancelled");
  });

  test("keeps concurrent calls apart", async () => {
    const { provider, requests } = create();
    const replies = await Promise.all(Array.from({ length: 20 }, () => provider.call(requests.text, patient())));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });
}

function patient() {
  return { signal: new AbortController().signal, onDelta: () => {} };
}

async function failureOf(call: Promise<unknown>): Promise<RunError> {
  const thrown: unknown = await call.then(
    () => {
      throw new Error("the call did not fail");
    },
    (error: unknown) => error,
  );
  expect(thrown).toHaveProperty("runError");
  return RunError.parse((thrown as { runError: unknown }).runError);
}
