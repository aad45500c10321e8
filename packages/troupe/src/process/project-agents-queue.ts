import type { Logger } from "@troupe/core";
import { RunRequest, type TaskQueue } from "@troupe/core";
import { decode } from "@troupe/core/internal";
import type { ServedAgents } from "@troupe/runtime";

/** Folders that are remembered to have been looked into. */
const foldersMax = 500;

/**
 * The same queue, which looks into the folder of a run before it is offered, where nobody here is known by the name of its
 * agent. Projects bring agents of their own, and a process that has just begun has seen no folder yet: what an earlier one
 * left behind there would wait for ever for somebody who serves it.
 */
export function seeingFolders(queue: TaskQueue, served: ServedAgents, logger: Logger): TaskQueue {
  const seen = new Set<string>();
  const look = async (bytes: Uint8Array): Promise<void> => {
    const { path } = decode(RunRequest, bytes, "task").workspace;
    if (seen.has(path)) return;
    if (seen.size >= foldersMax) seen.clear();
    seen.add(path);
    await served.agentSource.load(path);
  };
  return {
    async offer(task) {
      if (!served.ids().includes(task.agent)) {
        await look(task.bytes).catch((err: unknown) =>
          logger.warn({ run: task.run, err }, "its folder cannot be read"),
        );
      }
      return await queue.offer(task);
    },
    take: (request) => queue.take(request),
    onHint: (listener) => queue.onHint(listener),
    pollFaster: () => queue.pollFaster(),
    close: () => queue.close(),
  };
}
