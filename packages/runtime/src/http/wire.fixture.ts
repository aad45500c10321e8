import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { token } from "./service.fixture.ts";

export interface WireRequest {
  method?: string;
  path: string;
  /** Sent as they are; `Host` is not added. */
  headers?: Record<string, string | string[]>;
  body?: string;
}

export interface WireResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A request with any headers at all, which `fetch` does not allow. */
export async function send(port: number, wanted: WireRequest): Promise<WireResponse> {
  const response = await open(port, wanted);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

/** The same, with the body left to the caller: for streams. */
export async function open(
  port: number,
  { method = "GET", path, headers = {}, body }: WireRequest,
): Promise<IncomingMessage> {
  // A flat list, since only that lets a header be sent twice.
  const list = Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]));
  const framed = body === undefined ? list : [...list, "Content-Length", String(Buffer.byteLength(body))];
  const sent = request({ host: "127.0.0.1", port, method, path, headers: framed, setHost: false, agent: false });
  sent.end(body);
  // A server that refuses may stop reading before everything is sent.
  sent.on("error", () => {});
  const [response] = await once(sent, "response");
  return response;
}

/** The headers of a client that the server accepts. */
export function clientHeaders(port: number): Record<string, string> {
  return { Host: `127.0.0.1:${port}`, Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
}

export function errorOf(response: WireResponse): { code: string; message: string; fix: string | null } {
  return JSON.parse(response.text).error;
}

/** A promise with a function that resolves it. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
