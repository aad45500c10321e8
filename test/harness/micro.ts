import type { NatsLink } from "@troupe/nats";
import { until } from "./until.ts";

/** The first so many answers to one question of NATS' service protocol, as its own tools gather them. */
export async function gatherMicro(
  { connection }: NatsLink,
  subject: string,
  count: number,
): Promise<Record<string, unknown>[]> {
  const answers: Record<string, unknown>[] = [];
  const inbox = `_INBOX.micro-test.${Math.random().toString(36).slice(2)}`;
  const subscription = connection.subscribe(inbox, {
    callback: (_, message) => void answers.push(message.json<Record<string, unknown>>()),
  });
  connection.publish(subject, "", { reply: inbox });
  await until(() => answers.length >= count);
  subscription.unsubscribe();
  return answers;
}
