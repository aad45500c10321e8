import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Requester } from "../connection/requester.ts";
import { refusalOf } from "./errors.ts";

/** What JetStream is asked for by name, such as `STREAM.INFO.troupe_journal`. Its leaders answer. */
export interface JetStreamApi {
  /**
   * Null when it answers with one of the codes in `absent`. Rejects as `Asks` does, and with an error for JetStream's
   * own code. What is asked for may be asked for twice: between two leaders nobody answers, and the next one answers at
   * once.
   */
  call<S extends z.ZodType>(
    name: string,
    answer: S,
    options?: { request?: object; absent?: readonly number[] },
  ): Promise<z.output<S> | null>;
}

/** Together they are the longest wait. */
const tryMs = 1_000;
const triesMax = 5;

const Refusal = z.object({
  error: z.object({ err_code: z.int().default(0), description: z.string().default("") }).exactOptional(),
});

export function createJetStreamApi(asks: Requester): JetStreamApi {
  const ask = async (name: string, payload: string, triesLeft: number): Promise<unknown> => {
    try {
      return JSON.parse(await asks.askOnce({ subject: `$JS.API.${name}`, payload, timeoutMs: tryMs }));
    } catch (error) {
      const code = TroupeError.is(error) ? error.code : null;
      if (code === "NO_RESPONDERS") throw noJetStream(name, error);
      if (code === "TIMEOUT" && triesLeft > 0) return await ask(name, payload, triesLeft - 1);
      throw error;
    }
  };
  return {
    async call(name, schema, { request, absent = [] } = {}) {
      const answer = await ask(name, request ? JSON.stringify(request) : "", triesMax - 1);
      const { error } = Refusal.parse(answer);
      if (!error) return schema.parse(answer);
      if (absent.includes(error.err_code)) return null;
      throw refusalOf(error.err_code, error.description, name);
    },
  };
}

function noJetStream(name: string, cause: unknown): TroupeError {
  return new TroupeError("UNSUPPORTED_SERVER", `no JetStream answers (${name})`, {
    fix: "start the server with JetStream (nats-server -js); one that has just been started may need a moment",
    cause,
  });
}
