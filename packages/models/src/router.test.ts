import { type ModelProvider, type ModelReply, type ModelRequest, type RunError, RunFailure } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createModelRouter } from "./router.ts";

/** A provider that answers with its own name. */
function named(id: string): ModelProvider {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };
  return {
    id,
    call: async ({ model }): Promise<ModelReply> => ({ text: id, calls: [], usage, stopReason: "end", model }),
    priceOf: async () => ({ inputPerMillion: id.length, outputPerMillion: 0 }),
  };
}

const options = { signal: new AbortController().signal, onDelta: () => {} };

function requestFor(model: string): ModelRequest {
  const origin = { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 };
  return { model, system: "", messages: [], tools: [], maxOutputTokens: 100, temperature: null, origin };
}

const router = createModelRouter([named("scripted"), named("anthropic")]);

test.for([
  { model: "scripted/demo", provider: "scripted" },
  { model: "scripted//tmp/a.yaml", provider: "scripted" },
  { model: "anthropic/claude/x", provider: "anthropic" },
])("$model is answered by $provider", async ({ model, provider }) => {
  expect(await router.call(requestFor(model), options)).toMatchObject({ text: provider, model });
});

describe("a model of no provider is refused with the known prefixes:", () => {
  test.for(["openai/gpt", "scripted", "", "/demo", "constructor/x"])("%j", async (model) => {
    await expect(router.call(requestFor(model), options)).rejects.toMatchObject({
      runError: {
        type: "params",
        message: `no provider for the model ${JSON.stringify(model)}; model ids start with one of: anthropic/, scripted/`,
        recoverable: false,
      },
    });
  });
});

test.for([
  { model: "scripted/demo", price: { inputPerMillion: 8, outputPerMillion: 0 } },
  { model: "openai/gpt", price: null },
  { model: "scripted", price: null },
])("the price of $model comes from its provider", async ({ model, price }) => {
  expect(await router.priceOf(model)).toEqual(price);
});

test("two providers of one id are refused", () => {
  expect(() => createModelRouter([named("a"), named("a")])).toThrow("two model providers have the same id: a, a");
});

/** A provider that answers, or fails with this, and records its requests. */
function answering(id: string, failure: Partial<RunError> | null = null) {
  const asked: ModelRequest[] = [];
  const provider: ModelProvider = {
    ...named(id),
    async call(request) {
      asked.push(request);
      if (failure === null) return named(id).call(request, options);
      throw new RunFailure({ type: "network", message: `${id} is gone`, recoverable: true, begun: false, ...failure });
    },
  };
  return { provider, asked };
}

describe("a model with a fallback", () => {
  const chain = { "one/a": "two/b", "two/b": "three/c" };
  const three = (...failures: (Partial<RunError> | null)[]) => {
    const ids = ["one", "two", "three"];
    const parts = ids.map((id, i) => answering(id, failures[i]));
    const models = createModelRouter(
      parts.map(({ provider }) => provider),
      { fallbacks: chain },
    );
    return { models, asked: parts.map(({ asked }) => asked.length), parts };
  };

  test("is asked alone as long as it answers", async () => {
    const { models, parts } = three();
    expect(await models.call(requestFor("one/a"), options)).toMatchObject({ text: "one", model: "one/a" });
    expect(parts.map(({ asked }) => asked.length)).toEqual([1, 0, 0]);
  });

  test.for([
    { what: "it refuses all calls", failure: { type: "rate_limit" as const, tries: 0, retryAfterMs: 10_000 } },
    { what: "its tries are used up", failure: { type: "network" as const, tries: 5 } },
    { what: "its provider's budget is spent", failure: { type: "budget" as const, recoverable: false, tries: 1 } },
  ])("is answered by it when $what, and the reply names the model and the failure", async ({ failure }) => {
    const { models, parts } = three(failure);
    expect(await models.call(requestFor("one/a"), options)).toMatchObject({
      text: "two",
      model: "two/b",
      retries: [{ error: { ...failure, message: "one is gone" }, waitedMs: 0 }],
    });
    expect(parts[1]?.asked[0]?.origin.triesBefore).toBe(failure.tries);
  });

  test("is answered by its fallback's fallback", async () => {
    const { models } = three({ tries: 5 }, { type: "rate_limit", tries: 0 });
    const reply = await models.call(requestFor("one/a"), options);
    expect(reply).toMatchObject({ text: "three", model: "three/c" });
    expect(reply.retries).toHaveLength(2);
  });

  test.for([
    { what: "a wrong key", failure: { type: "auth" as const, recoverable: false } },
    { what: "no permission", failure: { type: "permission" as const, recoverable: false } },
    { what: "a request that does not fit", failure: { type: "params" as const, recoverable: false } },
    { what: "a call that was cancelled", failure: { type: "cancelled" as const, recoverable: false } },
    { what: "a call that had begun and was lost", failure: { type: "network" as const, begun: true } },
    { what: "an invalid reply", failure: { type: "model" as const, recoverable: true, begun: true } },
  ])("is not used when that would hide $what", async ({ failure }) => {
    const { models, parts } = three(failure);
    await expect(models.call(requestFor("one/a"), options)).rejects.toMatchObject({
      runError: { ...failure, message: "one is gone" },
    });
    expect(parts.map(({ asked }) => asked.length)).toEqual([1, 0, 0]);
  });

  describe("when none of them answers fails", () => {
    const failing = async (...failures: Partial<RunError>[]) => {
      const { models } = three(...failures);
      return await models.call(requestFor("one/a"), options).catch((thrown) => thrown.runError);
    };

    test("as the first did, with the message of the last and the requests of all", async () => {
      const wait = { type: "rate_limit" as const, retryAfterMs: 900 };
      expect(
        await failing({ ...wait, tries: 5 }, { tries: 1 }, { type: "auth", recoverable: false, tries: 1 }),
      ).toEqual({
        ...wait,
        message: "one is gone; its fallback three/c failed, too: three is gone",
        recoverable: true,
        tool: null,
        begun: false,
        tries: 7,
      });
    });

    test("as the last, when that call may be charged", async () => {
      const lost = { type: "network" as const, begun: true, tries: 1 };
      expect(await failing({ tries: 5 }, lost)).toMatchObject({ ...lost, message: "two is gone", tries: 6 });
    });

    test("as the last, when only the last may recover", async () => {
      const spent = { type: "budget" as const, recoverable: false };
      expect(await failing(spent, spent, { type: "rate_limit", retryAfterMs: 7 })).toMatchObject({
        type: "rate_limit",
        retryAfterMs: 7,
        recoverable: true,
      });
    });
  });

  test("has the highest price of them, element by element", async () => {
    const price = (id: string, price: Awaited<ReturnType<ModelProvider["priceOf"]>>) => ({
      ...named(id),
      priceOf: async () => price,
    });
    const cheapIn = price("one", { inputPerMillion: 1, outputPerMillion: 20, cacheWritePerMillion: 2 });
    const cheapOut = price("two", { inputPerMillion: 3, outputPerMillion: 10, cachedInputPerMillion: 0.5 });
    const models = createModelRouter([cheapIn, cheapOut, price("three", null)], {
      fallbacks: { "one/a": "two/b", "two/x": "three/c" },
    });
    expect(await models.priceOf("one/a")).toEqual({
      inputPerMillion: 3,
      outputPerMillion: 20,
      cachedInputPerMillion: 1,
      cacheWritePerMillion: 3,
    });
    expect(await models.priceOf("two/x")).toBeNull();
  });

  test("has the smallest known context window of them", async () => {
    const window = (id: string, tokens: number | null) => ({ ...named(id), contextOf: async () => tokens });
    const models = createModelRouter([window("one", 200_000), window("two", null), window("three", 64_000)], {
      fallbacks: chain,
    });
    expect(await models.contextOf?.("one/a")).toBe(64_000);
    expect(await models.contextOf?.("two/other")).toBeNull();
  });
});

test.for([
  {
    what: "form a cycle",
    fallbacks: { "one/a": "two/b", "two/b": "one/a" },
    says: "the fallbacks of one/a form a cycle: one/a → two/b → one/a",
  },
  { what: "name themselves", fallbacks: { "one/a": "one/a" }, says: "form a cycle" },
  {
    what: "name an unknown provider",
    fallbacks: { "one/a": "five/e" },
    says: "the fallback of one/a is five/e, which belongs to no provider",
  },
])("fallbacks that $what are refused", ({ fallbacks, says }) => {
  const error = { code: "INVALID_CONFIG", message: expect.stringContaining(says) };
  expect(() => createModelRouter([named("one"), named("two")], { fallbacks })).toThrow(expect.objectContaining(error));
});

test("a model named like a property of every object has no fallback", async () => {
  const models = createModelRouter([named("one")], { fallbacks: {} });
  await expect(models.call(requestFor("constructor"), options)).rejects.toMatchObject({ runError: { type: "params" } });
});

test("a context window that cannot be read is unknown: the call itself reports the error", async () => {
  const broken: ModelProvider = { ...named("one"), contextOf: () => Promise.reject(new TypeError("no header")) };
  expect(await createModelRouter([broken]).contextOf?.("one/a")).toBeNull();
});
