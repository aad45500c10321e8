import { TroupeError } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Requester } from "../connection/requester.ts";
import { createJetStreamApi } from "./api.ts";
import { createPublisher } from "./publisher.ts";

// While a cluster changes its leader: requests without an answer, and answers of former leaders.

describe("a request to JetStream", () => {
  it.each([
    { before: 0, what: "at once" },
    { before: 1, what: "by the next leader" },
    { before: 4, what: "late" },
  ])("is repeated until it is answered, here $what", async ({ before }) => {
    const { requester, requestCount } = answering([...Array(before).fill("TIMEOUT"), { config: "x" }]);
    const answer = await createJetStreamApi(requester).call("STREAM.INFO.s", z.object({ config: z.string() }));
    expect([answer, requestCount()]).toEqual([{ config: "x" }, before + 1]);
  });

  it.each([
    { what: "silence", answers: Array(9).fill("TIMEOUT"), code: "TIMEOUT", times: 5 },
    { what: "no responders", answers: ["NO_RESPONDERS"], code: "UNSUPPORTED_SERVER", times: 1 },
    { what: "a connection that is lost", answers: ["UNREACHABLE"], code: "UNREACHABLE", times: 1 },
    { what: "a cluster without a leader", answers: [refusal(10008)], code: "UNREACHABLE", times: 1 },
  ])("is given up after $what", async ({ answers, code, times }) => {
    const { requester, requestCount } = answering(answers);
    await expect(createJetStreamApi(requester).call("STREAM.INFO.s", z.unknown())).rejects.toMatchObject({ code });
    expect(requestCount()).toBe(times);
  });
});

describe("publishing into a stream", () => {
  it.each([
    { code: 10071, kind: "conflict", what: "another is the newest" },
    { code: 10164, kind: "conflict", what: "another is on its way to the replicas" },
    { code: 10008, kind: "unknown", what: "there is no leader" },
    {
      code: 10009,
      kind: "unknown",
      what: "the server is no longer the leader, and its followers may have the message",
    },
    { code: 10077, kind: "refused", what: "the store is full" },
  ])("is $kind after the code $code: $what", async ({ code, kind }) => {
    const { requester } = answering([refusal(code)]);
    const publication = { subject: "s", bytes: new Uint8Array() };
    expect(await createPublisher({ requester }).publish(publication)).toMatchObject({ kind });
  });
});

function refusal(code: number): object {
  return { error: { err_code: code, description: "said" } };
}

/** Gives these answers one after the other. A string is the code of an error. */
function answering(answers: readonly (object | string)[]) {
  let count = 0;
  const requester: Requester = {
    requestMany: () => Promise.reject(new Error("unexpected request for many replies")),
    async request() {
      const answer = answers[count++];
      if (typeof answer === "string") throw new TroupeError(answer as TroupeError["code"], "said");
      return JSON.stringify(answer);
    },
    close() {},
  };
  return { requester, requestCount: () => count };
}
