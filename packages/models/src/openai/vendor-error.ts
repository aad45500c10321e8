import { z } from "zod";

/** What a server says went wrong, in its own words. */
export interface VendorError {
  /** HTTP status; null where none came and the words do not tell which it would have been. */
  status: number | null;
  code: string | null;
  message: string;
}

/** An answer that is none: an error within it, or no proper end. */
export class BrokenAnswer extends Error {
  readonly error: VendorError;

  constructor(error: VendorError) {
    super(error.message);
    this.name = "BrokenAnswer";
    this.error = error;
  }
}

const Words = z.string().nullish().catch(null);

/** The shapes in which OpenAI, FastAPI servers, Ollama, LM Studio and OpenRouter say what is wrong. */
const Problem = z.object({
  message: Words,
  detail: Words,
  code: z.union([z.string(), z.number()]).nullish().catch(null),
  type: Words,
  /** OpenRouter passes on what its own provider said. */
  metadata: z.object({ raw: Words }).nullish().catch(null),
});

/** How much of a server's words anybody wants to read. */
const messageCharactersMax = 500;

/** Reads what stands in a body, or under `error` in it, whatever it is. */
export function vendorErrorOf(body: unknown, status: number | null): VendorError {
  if (typeof body === "string") return { status, code: null, message: shortened(textOfPage(body)) };
  const parsed = Problem.safeParse(body);
  if (!parsed.success) return { status, code: null, message: "it did not say why" };
  const { message, detail, code, type, metadata } = parsed.data;
  const words = [message ?? detail, metadata?.raw].filter((part) => part && part !== "");
  return {
    status: status ?? statusOf(code, type),
    code: typeof code === "string" ? code : (type ?? null),
    message: words.length > 0 ? shortened(words.join(": ")) : "it did not say why",
  };
}

/** The status that an error within a stream would have had, were it not for the 200 that came before. */
function statusOf(code: string | number | null | undefined, type: string | null | undefined): number {
  if (typeof code === "number" && code >= 400 && code < 600) return code;
  const words = `${code ?? ""} ${type ?? ""}`;
  return statusWords.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

const statusWords: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|rate_?limit|too_many/i, 429],
  [/overloaded|unavailable|capacity/i, 503],
  [/auth|api_key/i, 401],
  [/permission|policy/i, 403],
  [/model_not_found|not_found/i, 404],
  [/context_length|invalid|unsupported|bad_request/i, 400],
];

/** The error that an event carries, or null. */
export function errorIn(event: string | null, data: unknown): VendorError | null {
  const carried = typeof data === "object" && data !== null && "error" in data ? data.error : null;
  if (carried) return vendorErrorOf(carried, null);
  const isError =
    event === "error" || (typeof data === "object" && data !== null && "type" in data && data.type === "error");
  return isError ? vendorErrorOf(data, null) : null;
}

/** What a page of HTML says, without its markup. */
function textOfPage(body: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1];
  const text = title ?? body.replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
  return text.replace(/\s+/g, " ").trim() || "it did not say why";
}

function shortened(text: string): string {
  return text.length > messageCharactersMax ? `${text.slice(0, messageCharactersMax)}…` : text;
}
