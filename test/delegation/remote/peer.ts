import { RunFailure } from "@troupe/core";

/** The other end of a pipe between two processes that trust each other. */
export interface Channel {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

export interface CallScope {
  /** Aborts when the caller wants no answer any more. */
  signal: AbortSignal;
  /** Tells the caller something before the answer is there. */
  note(note: unknown): void;
}

export type Methods = Record<string, (argument: never, scope: CallScope) => unknown>;

export interface CallOptions {
  signal?: AbortSignal;
  onNote?(note: unknown): void;
}

/** Calls methods of the other process. Bytes, plain objects and `undefined` cross; functions do not. */
export interface Peer<Theirs extends Methods> {
  call<Name extends keyof Theirs & string>(
    name: Name,
    argument: Parameters<Theirs[Name]>[0],
    options?: CallOptions,
  ): Promise<Awaited<ReturnType<Theirs[Name]>>>;
  /** Rejects all pending calls, because the other process is gone. */
  lose(why: string): void;
  /** Number of messages in both directions, except checks for activity. */
  readonly messages: number;
}

type Message =
  | { kind: "call"; id: number; name: string; argument: unknown }
  | { kind: "abort"; id: number }
  | { kind: "note"; id: number; note: unknown }
  | { kind: "answer"; id: number; name: string; value: unknown }
  | { kind: "failure"; id: number; name: string; error: Failure };

interface Failure {
  message: string;
  runError?: ConstructorParameters<typeof RunFailure>[0];
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  onNote(note: unknown): void;
}

/** @param uncounted names of methods that do not count as anything happening */
export function createPeer<Theirs extends Methods>(
  channel: Channel,
  ours: Methods,
  uncounted: readonly string[] = [],
): Peer<Theirs> {
  const waiting = new Map<number, Waiting>();
  const answering = new Map<number, AbortController>();
  let calls = 0;
  let messages = 0;
  const count = (message: Message): void => {
    if (!("name" in message && uncounted.includes(message.name))) messages += 1;
  };
  const send = (message: Message): void => {
    count(message);
    channel.send(message);
  };

  const answer = async ({ id, name, argument }: Message & { kind: "call" }): Promise<void> => {
    const aborter = new AbortController();
    answering.set(id, aborter);
    try {
      const method = ours[name];
      if (!method) throw new Error(`this process has no method ${name}`);
      const scope = { signal: aborter.signal, note: (note: unknown) => send({ kind: "note", id, note }) };
      send({ kind: "answer", id, name, value: await method(argument as never, scope) });
    } catch (thrown) {
      send({ kind: "failure", id, name, error: failureOf(thrown) });
    } finally {
      answering.delete(id);
    }
  };

  channel.onMessage((received) => {
    const message = received as Message;
    count(message);
    const { id } = message;
    if (message.kind === "call") void answer(message);
    else if (message.kind === "abort") answering.get(id)?.abort();
    else if (message.kind === "note") waiting.get(id)?.onNote(message.note);
    else {
      const waiter = waiting.get(id);
      waiting.delete(id);
      if (message.kind === "answer") waiter?.resolve(message.value);
      else waiter?.reject(thrownBy(message.error));
    }
  });

  return {
    async call(name, argument, { signal, onNote = () => {} } = {}) {
      signal?.throwIfAborted();
      calls += 1;
      const id = calls;
      const answered = Promise.withResolvers<unknown>();
      waiting.set(id, { ...answered, onNote });
      const abort = (): void => send({ kind: "abort", id });
      signal?.addEventListener("abort", abort, { once: true });
      send({ kind: "call", id, name, argument });
      return (await answered.promise.finally(() => signal?.removeEventListener("abort", abort))) as never;
    },
    lose(why) {
      for (const { reject } of waiting.values()) reject(new Error(why));
      waiting.clear();
    },
    get messages() {
      return messages;
    },
  };
}

function failureOf(thrown: unknown): Failure {
  if (thrown instanceof RunFailure) return { message: thrown.message, runError: thrown.runError };
  return { message: thrown instanceof Error ? thrown.message : String(thrown) };
}

function thrownBy({ message, runError }: Failure): Error {
  return runError ? new RunFailure(runError) : new Error(message);
}
