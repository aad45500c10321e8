import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Asks } from "./asks.ts";
import { refusalOf } from "./jetstream-errors.ts";

/** What JetStream is asked for by name, such as `STREAM.INFO.troupe_journal`. Its leaders answer. */
export interface JetStreamApi {
  /**
   * Null when it answers with one of the codes in `absent`. Rejects as `Asks` does, and with an error for JetStream's
   * own code.
   */
  call<S extends z.ZodType>(
    name: string,
    answer: S,
    options?: { request?: object; absent?: readonly number[] },
  ): Promise<z.output<S> | null>;
}

const timeoutMs = 5_000;

const Refusal = z.object({
  error: z.object({ err_code: z.int().default(0), description: z.string().default("") }).exactOptional(),
});

export function createJetStreamApi(asks: Asks): JetStreamApi {
  const ask = async (name: string, request: object | undefined): Promise<unknown> => {
    let answer: unknown = null;
    try {
      await asks.ask({
        subject: `$JS.API.${name}`,
        payload: request ? JSON.stringify(request) : "",
        timeoutMs,
        hear(message) {
          answer = JSON.parse(message.string());
          return true;
        },
      });
    } catch (error) {
      throw TroupeError.is(error) && error.code === "NO_RESPONDERS" ? noJetStream(name, error) : error;
    }
    return answer;
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
