/**
 * Tests runs whose models refuse, fall silent or break off, with the vendors' own SDKs over real sockets. The server
 * counts the requests.
 */
import { createSimulatedClock } from "@troupe/core/memory";
import { type Fault, ProviderLimits } from "@troupe/models";
import { describe, expect, test } from "vitest";
import { fastClock } from "../../harness/fast-clock.ts";
import { saying } from "../../harness/model-server/fixture.ts";
import { until } from "../../harness/until.ts";
import { key, startModelTeam } from "./team.ts";
import { wires } from "./wires.ts";

const { idleTimeoutMs } = ProviderLimits.parse({});
const answer = { text: "it is forty two", latencyMs: 4, deltas: 4 };

describe.for(wires)("over $wire", (wire) => {
  /** Everything that has to wait does so a hundred times as fast. */
  const withFaults = (context: Parameters<typeof startModelTeam>[0], ...faults: Fault[]) => {
    const clock = fastClock(100);
    return startModelTeam(context, { wire, scenario: saying({ ...answer, faults }), clock, retryClock: clock });
  };

  describe("a refused request is repeated:", () => {
    test.for<{ what: string; faults: Fault[]; requests: number }>([
      { what: "429", faults: [{ status: 429 }], requests: 2 },
      { what: "529", faults: [{ status: 529 }], requests: 2 },
      { what: "500", faults: [{ status: 500 }], requests: 2 },
      { what: "503", faults: [{ status: 503 }], requests: 2 },
      { what: "four times", faults: [429, 500, 529, 503].map((status) => ({ status })), requests: 5 },
    ])("$what", async ({ faults, requests }, context) => {
      const { server, ask } = await withFaults(context, ...faults);
      const { response, entries } = await ask("go");

      expect(response).toMatchObject({ status: "completed", summary: answer.text });
      expect(server.calls().map(({ status }) => status)).toEqual([...faults.map(({ status }) => status), 200]);
      expect(server.calls()).toHaveLength(requests);
      const replies = entries.filter((entry) => entry.kind === "model.replied");
      expect(replies.map(({ reply }) => reply.retries?.length)).toEqual([faults.length]);
    });

    test("no sooner than allowed", async (context) => {
      const { server, ask } = await withFaults(context, { status: 429, retryAfterMs: 20_000 });
      const { response } = await ask("go");
      expect(response.status).toBe("completed");
      const [refused, second] = server.calls();
      expect((second?.beganMs ?? 0) - (refused?.endedMs ?? 0)).toBeGreaterThanOrEqual(200 - 1);
    });

    test("at most five times, except for rate limits", async (context) => {
      const { server, ask } = await withFaults(context, ...Array.from({ length: 9 }, () => ({ status: 500 })));
      const { response } = await ask("go");
      expect(response).toMatchObject({ status: "failed", error: { type: "network" } });
      expect(server.calls()).toHaveLength(5);
    });
  });

  describe("an unrecoverable failure is not repeated:", () => {
    test.for<{ what: string; fault: Fault; type: string }>([
      {
        what: "a spent quota",
        fault: { status: 429, code: "insufficient_quota", message: "You exceeded your current quota" },
        type: "budget",
      },
      {
        what: "a spend limit",
        fault: {
          status: 429,
          code: "enforced_spend_limit_reached",
          message: "This organization has reached its monthly spend limit",
        },
        type: "budget",
      },
      {
        what: "a credit that is too low",
        fault: { status: 400, message: "Your credit balance is too low to access the API" },
        type: "budget",
      },
      { what: "an unpaid bill", fault: { status: 402, message: "billing" }, type: "budget" },
      { what: "an invalid request", fault: { status: 400, message: "max_tokens: is wrong" }, type: "params" },
      { what: "a wrong key", fault: { status: 401, message: `invalid key ${key}` }, type: "auth" },
      { what: "a model that is not allowed", fault: { status: 403, message: "no access" }, type: "permission" },
      { what: "an unknown model", fault: { status: 404, message: "no such model" }, type: "params" },
    ])("$what", async ({ fault, type }, context) => {
      const { server, ask } = await withFaults(context, fault);
      const { response, entries } = await ask("go");
      expect(response).toMatchObject({ status: "failed", error: { type, recoverable: false } });
      expect(server.calls()).toHaveLength(1);
      expect(JSON.stringify([response, entries])).not.toContain(key);
    });
  });

  describe("an answer that breaks off does not count, and the turn is repeated:", () => {
    test.for<{ what: string; fault: Fault }>([
      { what: "an error within it", fault: { streamError: { afterPieces: 2, status: 529, message: "Overloaded" } } },
      { what: "an error of the server within it", fault: { streamError: { afterPieces: 2, status: 500 } } },
      { what: "a lost connection", fault: { cut: { afterPieces: 2 } } },
      { what: "a connection that is lost at once", fault: { cut: { afterPieces: 0 } } },
    ])("$what", async ({ fault }, context) => {
      const { server, ask } = await withFaults(context, fault);
      const { response, entries } = await ask("go");

      expect(response).toMatchObject({ status: "completed", summary: answer.text });
      expect(server.calls()).toHaveLength(2);
      const failures = entries.filter((entry) => entry.kind === "model.failed");
      expect(failures.map(({ error }) => [error.begun, error.tries])).toEqual([[true, 1]]);
      const replies = entries.filter((entry) => entry.kind === "model.replied");
      expect(replies.map(({ reply }) => reply.text)).toEqual([answer.text]);
      // The broken reply is not part of the next request.
      expect(server.calls()[1]?.body).toEqual(server.calls()[0]?.body);
    });
  });

  test("a server that breaks off repeatedly gets five requests", async (context) => {
    const { server, ask } = await withFaults(
      context,
      ...Array.from({ length: 9 }, () => ({ cut: { afterPieces: 1 } })),
    );
    const { response } = await ask("go");
    expect(response).toMatchObject({ status: "failed", error: { type: "network" } });
    expect(server.calls()).toHaveLength(5);
  });

  test.for<Fault>([{ stall: { afterPieces: 2 } }, { halfOpen: { afterPieces: 2 } }])(
    "a silent server is given up within 90 s: %j",
    async (fault, context) => {
      const retryClock = createSimulatedClock();
      const scenario = saying({ ...answer, faults: [fault] });
      const { server, deltas, ask } = await startModelTeam(context, {
        wire,
        scenario,
        clock: fastClock(100),
        retryClock,
        idleTimeoutMs,
      });
      expect(idleTimeoutMs).toBeLessThanOrEqual(90_000);

      const asked = ask("go");
      await until(() => deltas.length === 2);
      retryClock.advance(idleTimeoutMs - 1);
      expect(server.calls()).toMatchObject([{ outcome: "open" }]);
      retryClock.advance(1);
      const { response, entries } = await asked;

      expect(response).toMatchObject({ status: "completed", summary: answer.text });
      expect(server.calls()).toHaveLength(2);
      const failures = entries.filter((entry) => entry.kind === "model.failed");
      expect(failures).toMatchObject([{ error: { begun: true, recoverable: true, tries: 1 } }]);
      expect(failures[0]?.error.message).toMatch(/75 s/);
      const replies = entries.filter((entry) => entry.kind === "model.replied");
      expect(replies.map(({ reply }) => reply.text)).toEqual([answer.text]);
      expect(server.calls()[1]?.body).toEqual(server.calls()[0]?.body);
    },
  );

  test("a server without any answer is given up as well", async (context) => {
    const retryClock = createSimulatedClock();
    const scenario = saying({ ...answer, faults: [{ delayMs: 3_600_000 }] });
    const { server, ask } = await startModelTeam(context, {
      wire,
      scenario,
      clock: fastClock(100),
      retryClock,
      idleTimeoutMs,
    });
    const asked = ask("go");
    await server.waitUntil(([call]) => call?.identity != null);
    retryClock.advance(idleTimeoutMs);
    expect((await asked).response).toMatchObject({ status: "completed" });
    expect(server.calls()).toMatchObject([{ outcome: "lost" }, { outcome: "answered" }]);
  });

  test.for<{ notWhatItSays: "html" | "json" | "empty" }>([
    { notWhatItSays: "html" },
    { notWhatItSays: "json" },
    { notWhatItSays: "empty" },
  ])("a server of another kind ends the run with a reason: %j", async (fault, context) => {
    const { server, ask } = await withFaults(context, ...Array.from({ length: 9 }, () => fault));
    const { response } = await ask("go");
    expect(response.status).toBe("failed");
    expect(response.error?.message.length).toBeGreaterThan(20);
    expect(server.calls().length).toBeLessThanOrEqual(5);
  });

  test("the last turn of a conversation with tools offers none, and the server accepts it", async (context) => {
    const clock = fastClock(100);
    const scenario = saying({ thinking: "hm", calls: [{ tool: "lookup", args: { word: "w" } }] }, answer);
    const { server, ask } = await startModelTeam(context, {
      wire,
      scenario,
      clock,
      retryClock: clock,
      maxIterations: 2,
    });
    const { response } = await ask("go");
    expect(server.calls().map(({ status, refusal }) => [status, refusal])).toEqual([
      [200, null],
      [200, null],
    ]);
    expect(response.details).toContain(answer.text);
  });

  test("malformed arguments are one error of one call each, which the model reads", async (context) => {
    const raw = ['{"word": "a', "[1]", '"text"', "null", '{"__proto__":{"word":"a"}}', '{"word":"\\ud800"}'];
    const clock = fastClock(100);
    const scenario = saying(
      { calls: [...raw.map((rawArgs) => ({ tool: "lookup", rawArgs })), { tool: "lookup", args: { word: "w" } }] },
      answer,
    );
    const { server, ask } = await startModelTeam(context, { wire, scenario, clock, retryClock: clock });
    const { response, entries } = await ask("go");

    expect(response).toMatchObject({ status: "completed", summary: answer.text });
    const replies = entries.filter((entry) => entry.kind === "model.replied");
    expect(replies[0]?.reply.calls.map(({ args, problem }) => [args, problem !== null])).toEqual([
      ...raw.map(() => [null, true]),
      [{ word: "w" }, false],
    ]);
    expect(server.calls().map(({ status }) => status)).toEqual([200, 200]);
  });
});
