/** One frame of a server-sent event stream. A comment has neither event nor data. */
export interface SseFrame {
  event?: string;
  id?: string;
  data?: string;
}

/** Formats an event. Its data is JSON, which contains no line break. */
export function formatFrame(event: string, data: unknown, id?: number): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Formats a heartbeat. Its id updates the reader's position without an event. */
export function formatHeartbeat(id: number): string {
  return `:\nid: ${id}\n\n`;
}

/** Parses the frames of a stream. A frame that the end of the stream cuts off is dropped. */
export async function* parseFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield parseFrame(block);
  }
}

function parseFrame(block: string): SseFrame {
  const frame: SseFrame = {};
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
    if (name === "event" || name === "id" || name === "data") frame[name] = value;
  }
  return frame;
}
