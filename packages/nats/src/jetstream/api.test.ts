import { TroupeError } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Requester } from "../connection/requester.ts";
import { createJetStreamApi } from "./api.ts";
import { createPublisher } from "./publisher.ts";

// Clusters change their leaders: what is asked meanwhile, and what those say who are none any more.

describe("what JetStream is asked", () => {
  it.each([
    { before: 0, what: "at once" },
    { before: 1, what: "by the next leader" },
    { before: 4, what: "late" },
  ])("is asked until it is answered, here $what", async ({ before }) => {
    const { asks, asked } = answering([...Array(before).fill("TIMEOUT"), { config: "x" }]);
    const answer = await createJetStreamApi(asks).call("STREAM.INFO.s", z.object({ config: z.string() }));
    expect([answer, asked()]).toEqual([{ config: "x" }, before + 1]);
  });

  it.each([
    { what: "silence", answers: Array(9).fill("TIMEOUT"), code: "TIMEOUT", times: 5 },
    { what: "nobody there", answers: ["NO_RESPONDERS"], code: "UNSUPPORTED_SERVER", times: 1 },
    { what: "a connection that is lost", answers: ["UNREACHABLE"], code: "UNREACHABLE", times: 1 },
    { what: "a cluster without a leader", answers: [refusal(10008)], code: "UNREACHABLE", times: 1 },
  ])("is given up after $what", async ({ answers, code, times }) => {
    const { asks, asked } = answering(answers);
    await expect(createJetStreamApi(asks).call("STREAM.INFO.s", z.unknown())).rejects.toMatchObject({ code });
    expect(asked()).toBe(times);
  });
});

describe("a message into a stream", () => {
  it.each([
    { code: 10071, kind: "conflict", what: "another is the newest" },
    { code: 10164, kind: "conflict", what: "another is under way to the replicas" },
    { code: 10008, kind: "unknown", what: "there is no leader" },
    { code: 10009, kind: "unknown", what: "it leads no more, and its followers may have it" },
    { code: 10077, kind: "refused", what: "the store is full" },
  ])("is $kind where it is answered with $code: $what", async ({ code, kind }) => {
    const { asks } = answering([refusal(code)]);
    const publication = { subject: "s", bytes: new Uint8Array() };
    expect(await createPublisher({ asks }).publish(publication)).toMatchObject({ kind });
  });
});

function refusal(code: number): object {
  return { error: { err_code: code, description: "said" } };
}

/** Gives these answers one after the other; a word is the code of what goes wrong instead. */
function answering(answers: readonly (object | string)[]) {
  let count = 0;
  const asks: Requester = {
    ask: () => Promise.reject(new Error("nobody asks for several answers")),
    async askOnce() {
      const answer = answers[count++];
      if (typeof answer === "string") throw new TroupeError(answer as TroupeError["code"], "said");
      return JSON.stringify(answer);
    },
    close() {},
  };
  return { asks, asked: () => count };
}
