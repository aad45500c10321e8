import type { LiveEvent } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";

/** Receives the events of a feed in one tab. */
export interface FeedSink {
  /** The last position that this tab has received. */
  position(): number;
  change(change: RecordChange): void;
  live(event: LiveEvent): void;
  /** The tab has missed events and must reload everything. */
  resync(): void;
  /** `down`: the stream broke or did not open. The feed reconnects by itself. */
  connection(state: "up" | "down"): void;
}

type Message =
  | { kind: "change"; change: RecordChange }
  | { kind: "live"; event: LiveEvent }
  | { kind: "resync" }
  | { kind: "connection"; state: "up" | "down" }
  /** A new leader streams from this position. A tab behind it has missed events. */
  | { kind: "leading"; after: number }
  /** A new tab requests the state of the connection. */
  | { kind: "hello" }
  /** A tab logged in or requests an immediate retry. */
  | { kind: "retry" };

const channelName = "troupe.feed";
const retryMsMin = 500;
const retryMsMax = 10_000;

/**
 * Receives the daemon's events over one connection per browser.
 *
 * A browser opens at most six connections to one origin, and a stream occupies one of them: a seventh tab would hang. So
 * the tab that holds a Web Lock streams and forwards every event to the other tabs. When it closes, the next tab takes
 * over. Without locks or channels, each tab opens its own stream.
 */
export function openFeed(sink: FeedSink): { retry(): void } {
  const channel = "BroadcastChannel" in globalThis && "locks" in navigator ? new BroadcastChannel(channelName) : null;
  let leader: { retry(): void } | null = null;
  let state: "up" | "down" = "down";

  const publish = (message: Message): void => {
    deliver(sink, message);
    channel?.postMessage(message);
    if (message.kind === "connection") state = message.state;
  };
  const lead = (): Promise<never> => {
    channel?.postMessage({ kind: "leading", after: sink.position() } satisfies Message);
    leader = stream(sink, publish);
    return new Promise(() => {});
  };

  if (channel) {
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind === "retry") leader?.retry();
      else if (data.kind !== "hello") deliver(sink, data);
      else if (leader) channel.postMessage({ kind: "connection", state } satisfies Message);
    };
    channel.postMessage({ kind: "hello" } satisfies Message);
    // The tab keeps the lock until it closes, because the promise of `lead` never settles.
    navigator.locks.request(channelName, lead).catch(lead);
  } else void lead();

  return {
    retry() {
      leader?.retry();
      channel?.postMessage({ kind: "retry" } satisfies Message);
    },
  };
}

function deliver(sink: FeedSink, message: Message): void {
  if (message.kind === "change") sink.change(message.change);
  else if (message.kind === "live") sink.live(message.event);
  else if (message.kind === "resync") sink.resync();
  else if (message.kind === "connection") sink.connection(message.state);
  else if (message.kind === "leading" && sink.position() < message.after) sink.resync();
}

/**
 * A stream that reopens when it breaks.
 *
 * EventSource reconnects by itself, but it gives up after any status except 200 and requests the position of the page
 * load again. A new EventSource requests the current position of the tab.
 */
function stream(sink: FeedSink, publish: (message: Message) => void): { retry(): void } {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryMs = retryMsMin;

  const open = (): void => {
    clearTimeout(timer);
    source?.close();
    const eventSource = new EventSource(`/api/v1/events?after=${Math.max(0, sink.position())}`);
    source = eventSource;
    eventSource.onopen = () => {
      retryMs = retryMsMin;
      publish({ kind: "connection", state: "up" });
    };
    eventSource.onerror = () => {
      eventSource.close();
      timer = setTimeout(open, retryMs);
      retryMs = Math.min(retryMs * 2, retryMsMax);
      publish({ kind: "connection", state: "down" });
    };
    eventSource.addEventListener("change", ({ data }) => publish({ kind: "change", change: JSON.parse(data) }));
    eventSource.addEventListener("live", ({ data }) => publish({ kind: "live", event: JSON.parse(data) }));
    eventSource.addEventListener("resync", () => publish({ kind: "resync" }));
  };
  open();
  return {
    retry() {
      retryMs = retryMsMin;
      open();
    },
  };
}
