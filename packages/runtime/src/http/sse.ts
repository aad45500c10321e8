/** One event of a stream, as the wire has it. A comment has neither name nor data. */
export interface SseFrame {
  event?: string;
  id?: string;
  data?: string;
}

/** An event with JSON for data, which has no line breaks of its own. */
export function formatFrame(event: string, data: unknown, id?: number): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Shows that both ends live. The id moves a reader's position on without an event. */
export function formatHeartbeat(id: number): string {
  return `:\nid: ${id}\n\n`;
}

/** The frames of a stream. One that the stream's end cuts off is not among them. */
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
