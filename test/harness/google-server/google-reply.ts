/** An answer of a Google API. */
export interface GoogleReply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** A request, with its parsed query and JSON. */
export interface GoogleRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

export const ok = (body: unknown): GoogleReply => ({ status: 200, body });

/** An error as Google's REST APIs write it. */
export function refuse(status: number, reason: string, message: string, retryAfterS?: number): GoogleReply {
  return {
    status,
    body: { error: { code: status, message, errors: [{ message, domain: "global", reason }], status: reason } },
    ...(retryAfterS === undefined ? {} : { headers: { "retry-after": `${retryAfterS}` } }),
  };
}

export const notFound = (): GoogleReply => refuse(404, "notFound", "Requested entity was not found.");

/** A page of a list. A page token names its list, so that the token of another list is refused. */
export function pageOf<Item>(
  items: readonly Item[],
  query: URLSearchParams,
  { sizeParam, sizeDefault }: { sizeParam: string; sizeDefault: number },
): { items: Item[]; nextPageToken?: string } | null {
  const listName = [...query].filter(([name]) => !["pageToken", sizeParam].includes(name)).join("&");
  const given = query.get("pageToken");
  const [name, from = "0"] = given === null ? [listName] : Buffer.from(given, "base64url").toString().split("\n");
  if (name !== listName || !/^\d+$/.test(from)) return null;
  const end = Number(from) + Number(query.get(sizeParam) ?? sizeDefault);
  const next = Buffer.from(`${listName}\n${end}`).toString("base64url");
  return { items: items.slice(Number(from), end), ...(end < items.length ? { nextPageToken: next } : {}) };
}

export const invalidPageToken = (): GoogleReply => refuse(400, "invalidArgument", "Invalid pageToken");
