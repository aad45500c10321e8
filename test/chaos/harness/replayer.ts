import { connect, type Msg } from "@nats-io/transport-node";
import type { Scope } from "./scope.ts";

interface Heard {
  subject: string;
  data: Uint8Array;
  headers: Msg["headers"];
}

export interface Replayer {
  heard(): number;
  /** Says everything that it has heard so often again, in the order that it is given. */
  replay(times: number, order?: (messages: Heard[]) => Heard[]): Promise<number>;
}

/** Somebody in the namespace who writes down all that is said, and says it again. */
export async function startReplayer(url: string, scope: Scope, pattern = "troupe.>"): Promise<Replayer> {
  const listening = await connect({ servers: url });
  scope.onTestFinished(() => listening.close());
  const messages: Heard[] = [];
  listening.subscribe(pattern, {
    callback: (_, { subject, data, headers }) => void messages.push({ subject, data: data.slice(), headers }),
  });
  await listening.flush();
  return {
    heard: () => messages.length,
    async replay(times, order = (all) => all) {
      // It does not say again what it has said itself, and outlives no server.
      await listening.close();
      const said = Array.from({ length: times }, () => order([...messages])).flat();
      const saying = await connect({ servers: url });
      for (const { subject, data, headers } of said) saying.publish(subject, data, headers ? { headers } : {});
      await saying.flush();
      await saying.close();
      return said.length;
    },
  };
}

/** Windows of fifty messages, each in another order. */
export function shuffledWindows<T>(items: readonly T[], random: () => number, size = 50): T[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items
      .slice(i * size, (i + 1) * size)
      .map((item) => ({ item, place: random() }))
      .sort((one, other) => one.place - other.place)
      .map(({ item }) => item),
  ).flat();
}
