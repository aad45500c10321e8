import { connect, type Msg } from "@nats-io/transport-node";
import type { Scope } from "./scope.ts";

interface RecordedMessage {
  subject: string;
  data: Uint8Array;
  headers: Msg["headers"];
}

export interface Replayer {
  messageCount(): number;
  /** Says everything that it has heard so often again, in the order that it is given. */
  replay(times: number, order?: (messages: RecordedMessage[]) => RecordedMessage[]): Promise<number>;
}

/** Records all messages of a namespace and can publish them again. */
export async function startReplayer(url: string, scope: Scope, pattern = "troupe.>"): Promise<Replayer> {
  const listener = await connect({ servers: url });
  scope.onTestFinished(() => listener.close());
  const messages: RecordedMessage[] = [];
  listener.subscribe(pattern, {
    callback: (_, { subject, data, headers }) => void messages.push({ subject, data: data.slice(), headers }),
  });
  await listener.flush();
  return {
    messageCount: () => messages.length,
    async replay(times, order = (all) => all) {
      // Closes first, so that it does not record its own messages. The connection does not survive a server restart.
      await listener.close();
      const replayed = Array.from({ length: times }, () => order([...messages])).flat();
      const sender = await connect({ servers: url });
      for (const { subject, data, headers } of replayed) sender.publish(subject, data, headers ? { headers } : {});
      await sender.flush();
      await sender.close();
      return replayed.length;
    },
  };
}

/** Windows of fifty messages, each in another order. */
export function shuffledWindows<T>(items: readonly T[], random: () => number, size = 50): T[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items
      .slice(i * size, (i + 1) * size)
      .map((item) => ({ item, order: random() }))
      .sort((one, other) => one.order - other.order)
      .map(({ item }) => item),
  ).flat();
}
