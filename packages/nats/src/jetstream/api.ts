import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Requester } from "../connection/requester.ts";
import { apiErrorOf } from "./errors.ts";

/** Requests to JetStream's API by name, such as `STREAM.INFO.troupe_journal`. The leader of the asset answers. */
export interface JetStreamApi {
  /**
   * Resolves to null if JetStream answers with one of the error codes in `absent`. Rejects as `Requester.request` does,
   * and with an error for each other code. While a cluster elects a leader, requests get no answer: they are sent again,
   * so the request must be safe to repeat.
   */
  call<S extends z.ZodType>(
    name: string,
    schema: S,
    options?: { request?: object; absent?: readonly number[] },
  ): Promise<z.output<S> | null>;
}

/** Time limit of one attempt. A call takes `attemptMs * attemptsMax` at most. */
const attemptMs = 1_000;
const attemptsMax = 5;

const Refusal = z.object({
  error: z.object({ err_code: z.int().default(0), description: z.string().default("") }).exactOptional(),
});

export function createJetStreamApi(requester: Requester): JetStreamApi {
  const request = async (name: string, payload: string, attemptsLeft: number): Promise<unknown> => {
    try {
      return JSON.parse(await requester.request({ subject: `$JS.API.${name}`, payload, timeoutMs: attemptMs }));
    } catch (error) {
      const code = TroupeError.is(error) ? error.code : null;
      if (code === "NO_RESPONDERS") throw noJetStream(name, error);
      if (code === "TIMEOUT" && attemptsLeft > 0) return await request(name, payload, attemptsLeft - 1);
      throw error;
    }
  };
  return {
    async call(name, schema, { request: body, absent = [] } = {}) {
      const reply = await request(name, body ? JSON.stringify(body) : "", attemptsMax - 1);
      const { error } = Refusal.parse(reply);
      if (!error) return schema.parse(reply);
      if (absent.includes(error.err_code)) return null;
      throw apiErrorOf(error.err_code, error.description, name);
    },
  };
}

function noJetStream(name: string, cause: unknown): TroupeError {
  return new TroupeError("UNSUPPORTED_SERVER", `no JetStream answers (${name})`, {
    fix: "start the server with JetStream (nats-server -js); one that has just been started may need a moment",
    cause,
  });
}
