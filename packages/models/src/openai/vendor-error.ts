import { z } from "zod";

/** An error in the words of the server. */
export interface VendorError {
  /** HTTP status, or the status that the error stands for; null when neither is known. */
  status: number | null;
  code: string | null;
  message: string;
}

/** An answer with an error inside, or without a proper end. */
export class BrokenAnswer extends Error {
  readonly error: VendorError;

  constructor(error: VendorError) {
    super(error.message);
    this.name = "BrokenAnswer";
    this.error = error;
  }
}

const Text = z.string().nullish().catch(null);

/** The error formats of OpenAI, FastAPI servers, Ollama, LM Studio and OpenRouter. */
const ErrorBody = z.object({
  message: Text,
  detail: Text,
  code: z.union([z.string(), z.number()]).nullish().catch(null),
  type: Text,
  /** OpenRouter adds the error of its own provider. */
  metadata: z.object({ raw: Text }).nullish().catch(null),
});

const messageCharactersMax = 500;

const noReason = "the server gave no reason";

/** Reads an error from a body, or from its `error` field, in any format. */
export function vendorErrorOf(body: unknown, status: number | null): VendorError {
  if (typeof body === "string") return { status, code: null, message: shortened(textOfPage(body)) };
  const parsed = ErrorBody.safeParse(body);
  if (!parsed.success) return { status, code: null, message: noReason };
  const { message, detail, code, type, metadata } = parsed.data;
  const parts = [message ?? detail, metadata?.raw].filter((part) => part && part !== "");
  return {
    status: status ?? statusOf(code, type),
    code: typeof code === "string" ? code : (type ?? null),
    message: parts.length > 0 ? shortened(parts.join(": ")) : noReason,
  };
}

/** The HTTP status that an error inside a stream stands for. */
function statusOf(code: string | number | null | undefined, type: string | null | undefined): number {
  if (typeof code === "number" && code >= 400 && code < 600) return code;
  const words = `${code ?? ""} ${type ?? ""}`;
  return statusPatterns.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

const statusPatterns: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|rate_?limit|too_many/i, 429],
  [/overloaded|unavailable|capacity/i, 503],
  [/auth|api_key/i, 401],
  [/permission|policy/i, 403],
  [/model_not_found|not_found/i, 404],
  [/context_length|invalid|unsupported|bad_request/i, 400],
];

/** The error in an event, or null. */
export function errorIn(event: string | null, data: unknown): VendorError | null {
  const inner = typeof data === "object" && data !== null && "error" in data ? data.error : null;
  if (inner) return vendorErrorOf(inner, null);
  const isError =
    event === "error" || (typeof data === "object" && data !== null && "type" in data && data.type === "error");
  return isError ? vendorErrorOf(data, null) : null;
}

/** The title or text of an HTML page. */
function textOfPage(body: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1];
  const text = title ?? body.replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
  return text.replace(/\s+/g, " ").trim() || noReason;
}

function shortened(text: string): string {
  return text.length > messageCharactersMax ? `${text.slice(0, messageCharactersMax)}…` : text;
}
