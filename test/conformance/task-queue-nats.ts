import { jetstreamManager } from "@nats-io/jetstream";
import { createSubjects, silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import {
  createNatsBusOn,
  createNatsTaskQueue,
  type NatsLink,
  type NatsTaskQueue,
  type NatsTaskQueueOptions,
  openNatsLink,
} from "@troupe/nats";

export interface OpenTaskQueue extends AsyncDisposable {
  queue: NatsTaskQueue;
  link: NatsLink;
}

/** The queue of one process. Creates the work queue if it is missing. */
export async function openTaskQueue(url: string, options: Partial<NatsTaskQueueOptions> = {}): Promise<OpenTaskQueue> {
  const link = await openNatsLink({ servers: url, reconnectDelayMs: 20 });
  const bus = createNatsBusOn(link);
  await ensureTaskStream(link);
  const queue = await createNatsTaskQueue({
    link,
    bus,
    subjects: createSubjects(),
    clock: systemClock(),
    logger: silentLogger,
    ...options,
  });
  return {
    queue,
    link,
    async [Symbol.asyncDispose]() {
      await queue.close();
      await bus.close();
      await link.close();
    },
  };
}

export async function ensureTaskStream({ connection }: NatsLink): Promise<void> {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: "troupe_tasks",
    subjects: ["troupe.task.>"],
    retention: "workqueue",
    max_msgs_per_subject: 1,
    discard: "new",
    discard_new_per_subject: true,
    storage: "file",
  });
}
