import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Asks } from "./asks.ts";
import { refusalOf } from "./jetstream-errors.ts";

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

export function createJetStreamApi(asks: Asks): JetStreamApi {
  const askOnce = async (name: string, request: object | undefined): Promise<unknown> => {
    let answer: unknown = null;
    await asks.ask({
      subject: `$JS.API.${name}`,
      payload: request ? JSON.stringify(request) : "",
      timeoutMs: tryMs,
      hear(message) {
        answer = JSON.parse(message.string());
        return true;
      },
    });
    return answer;
  };
  const ask = async (name: string, request: object | undefined): Promise<unknown> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await askOnce(name, request);
      } catch (error) {
        if (!TroupeError.is(error)) throw error;
        if (error.code === "NO_RESPONDERS") throw noJetStream(name, error);
        if (error.code !== "TIMEOUT" || tries === triesMax) throw error;
      }
    }
  };
  return {
    async call(name, schema, { request, absent = [] } = {}) {
      const answer = await ask(name, request);
      const { error } = Refusal.parse(answer);
      if (!error) return schema.parse(answer);
      if (absent.includes(error.err_code)) return null;
      throw refusalOf(error.err_code, error.description, name);
    },
  };
}

function noJetStream(name: string, cause: TroupeError): TroupeError {
  return new TroupeError("UNSUPPORTED_SERVER", `no JetStream answers (${name})`, {
    fix: "start the server with JetStream (nats-server -js); one that has just been started may need a moment",
    cause,
  });
}
