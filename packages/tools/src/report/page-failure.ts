import { RunFailure } from "@troupe/core";

/**
 * Why a page of a crawl has no article. The first two have the codes that page readers use:
 *
 * - `1234`: a timeout or a network error. It may pass, so the page is tried once more.
 * - `1214`: the page does not exist. It is never tried again, and counts against its domain.
 * - `mcp_error`: the page reader failed. It is logged and the page skipped.
 * - `unreadable`: the answer cannot be parsed. It is logged for debugging and the page skipped.
 * - `failed`: anything else, such as a refused address or a file without text.
 */
export const failureKinds = ["1234", "1214", "mcp_error", "unreadable", "failed"] as const;
export type FailureKind = (typeof failureKinds)[number];

export interface PageFailure {
  kind: FailureKind;
  message: string;
}

/** Sizes of the two error answers of a page reader, in bytes. */
const errorBytes = { "1234": 171, "1214": 90 } as const;

/** No article is shorter, and longer texts may quote such an error. */
const errorTextLengthMax = 1_000;

const meanings = { "1234": "the network timed out", "1214": "the page was not found" } as const;

/**
 * Recognises the errors that page readers return as the text of a page. Null for a text that is an article.
 *
 * @example
 * classifyPageText('{"error":{"code":"1214","message":"not found"}}'); // { kind: "1214", … }
 */
export function classifyPageText(text: string, { isJson = false }: { isJson?: boolean } = {}): PageFailure | null {
  const trimmed = text.trim();
  const isShort = trimmed.length <= errorTextLengthMax;
  const parsed = parseObject(trimmed);
  const code = isShort ? (codeIn(parsed) ?? codeBySize(text)) : null;
  if (code !== null) return { kind: code, message: `${meanings[code]} (code ${code})` };
  if (/^(?:Error: )?MCP error\b/.test(trimmed) || (isShort && /\bMCP error\b/.test(trimmed))) {
    return { kind: "mcp_error", message: oneLine(trimmed) };
  }
  if (isJson && parsed === undefined) return { kind: "unreadable", message: `it is not JSON: ${oneLine(trimmed)}` };
  return null;
}

/** The kind of an error of our own fetch. */
export function classifyThrown(thrown: unknown): PageFailure {
  if (!(thrown instanceof RunFailure)) {
    return { kind: "failed", message: oneLine(thrown instanceof Error ? thrown.message : String(thrown)) };
  }
  const { type, message, recoverable } = thrown.runError;
  const isTemporary = type === "timeout" || (type === "network" && recoverable);
  return { kind: isTemporary ? "1234" : "failed", message: oneLine(message) };
}

/** The failure of a response with an error status. Null for a status that has a page. */
export function classifyStatus(status: number): PageFailure | null {
  if (status >= 200 && status < 300) return null;
  const message = `status ${status}`;
  if (status === 404 || status === 410) return { kind: "1214", message };
  if (status === 408 || status >= 500) return { kind: "1234", message };
  return { kind: "failed", message };
}

/** Undefined for a text that is not JSON. */
function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeIn(value: unknown): "1234" | "1214" | null {
  if (typeof value !== "object" || value === null) return null;
  const { code, error } = value as Record<string, unknown>;
  const inner = typeof error === "object" && error !== null ? (error as Record<string, unknown>).code : undefined;
  const text = String(inner ?? code);
  return text === "1234" || text === "1214" ? text : null;
}

/** Some readers wrap the error in other text. Its size and its code identify it. */
function codeBySize(text: string): "1234" | "1214" | null {
  const bytes = Buffer.byteLength(text);
  for (const code of ["1234", "1214"] as const) {
    if (bytes === errorBytes[code] && new RegExp(`\\b${code}\\b`).test(text)) return code;
  }
  return null;
}

/** A text on one line, without characters that a terminal interprets. */
export function oneLine(text: string, lengthMax = 200): string {
  return text
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, lengthMax);
}
