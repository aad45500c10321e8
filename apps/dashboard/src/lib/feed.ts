import type { LiveEvent } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";

/** What a feed tells its tab. */
export interface FeedSink {
  /** How far this tab has followed the stream. */
  position(): number;
  change(change: RecordChange): void;
  live(event: LiveEvent): void;
  /** Something was missed: load everything anew. */
  resync(): void;
  /** `down`: the stream broke, or never opened. The feed tries again by itself. */
  connection(state: "up" | "down"): void;
}

type Message =
  | { kind: "change"; change: RecordChange }
  | { kind: "live"; event: LiveEvent }
  | { kind: "resync" }
  | { kind: "connection"; state: "up" | "down" }
  /** A new leader streams from here: a tab that is behind has missed something. */
  | { kind: "leading"; after: number }
  /** A new tab asks how things stand. */
  | { kind: "hello" }
  /** Somebody logged in, or asks to try at once. */
  | { kind: "retry" };

const name = "troupe.feed";
const retryMsMin = 500;
const retryMsMax = 10_000;

/**
 * The daemon's events, over one connection per browser.
 *
 * A browser opens six connections to one origin, and a stream holds one for good: a seventh tab would hang. So the tab
 * that holds the lock streams, and passes everything on to the others; when it goes, the next one takes over. Where
 * locks or channels are missing each tab streams for itself.
 */
export function openFeed(sink: FeedSink): { retry(): void } {
  const channel = "BroadcastChannel" in globalThis && "locks" in navigator ? new BroadcastChannel(name) : null;
  let leader: { retry(): void } | null = null;
  let state: "up" | "down" = "down";

  const tell = (message: Message): void => {
    deliver(sink, message);
    channel?.postMessage(message);
    if (message.kind === "connection") state = message.state;
  };
  const lead = (): Promise<never> => {
    channel?.postMessage({ kind: "leading", after: sink.position() } satisfies Message);
    leader = stream(sink, tell);
    return new Promise(() => {});
  };

  if (channel) {
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind === "retry") leader?.retry();
      else if (data.kind !== "hello") deliver(sink, data);
      else if (leader) channel.postMessage({ kind: "connection", state } satisfies Message);
    };
    channel.postMessage({ kind: "hello" } satisfies Message);
    // Held until the tab goes: what `lead` returns never settles.
    navigator.locks.request(name, lead).catch(lead);
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
 * One stream, opened anew whenever it breaks.
 *
 * EventSource would reconnect by itself, but gives up for good on any answer but 200 and asks from where the page was
 * loaded. Asking from where the tab is now needs no memory on either side.
 */
function stream(sink: FeedSink, tell: (message: Message) => void): { retry(): void } {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryMs = retryMsMin;

  const open = (): void => {
    clearTimeout(timer);
    source?.close();
    const opened = new EventSource(`/api/events?after=${Math.max(0, sink.position())}`);
    source = opened;
    opened.onopen = () => {
      retryMs = retryMsMin;
      tell({ kind: "connection", state: "up" });
    };
    opened.onerror = () => {
      opened.close();
      timer = setTimeout(open, retryMs);
      retryMs = Math.min(retryMs * 2, retryMsMax);
      tell({ kind: "connection", state: "down" });
    };
    opened.addEventListener("change", ({ data }) => tell({ kind: "change", change: JSON.parse(data) }));
    opened.addEventListener("live", ({ data }) => tell({ kind: "live", event: JSON.parse(data) }));
    opened.addEventListener("resync", () => tell({ kind: "resync" }));
  };
  open();
  return {
    retry() {
      retryMs = retryMsMin;
      open();
    },
  };
}
