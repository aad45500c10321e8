import type { Message, ModelReply, Usage } from "@troupe/core";
import type { Catalog } from "./catalog.ts";
import type { Refusal } from "./refusal.ts";
import type { ThinkingSignatures } from "./thinking-signatures.ts";

/** A request of any vendor's, in the words that all of them share. */
export interface WireRequest {
  model: string;
  system: string;
  messages: Message[];
  tools: string[];
  maxOutputTokens: number | null;
  stream: boolean;
  /** True when reasoning comes along with the answer. */
  thinks: boolean;
  /** Our estimate of all that is sent. */
  promptTokens: number;
}

/** An answer before it is encoded in a vendor's format. */
export interface WireAnswer {
  /** Of this answer alone: its ids are made of it. */
  id: string;
  model: string;
  thinking: string | null;
  /** Pieces of the text. */
  pieces: readonly string[];
  calls: readonly { id: string; name: string; args: string }[];
  usage: Usage;
  stopReason: ModelReply["stopReason"];
}

/** One server-sent event. */
export interface Frame {
  event: string | null;
  data: string;
  /** Whether it is a piece of the answer, which takes its share of the latency. */
  isPiece: boolean;
}

/** Context of a wire format beside the request. */
export interface WireContext {
  catalog: Catalog;
  signatures: ThinkingSignatures;
  /** The longest conversation, its answer included; null: as the catalog says. */
  contextTokens: number | null;
  reasoningField: string | null;
}

/** One vendor's protocol. */
export interface Wire {
  /** Throws a `Refusal` for whatever the vendor would refuse. */
  open(body: unknown, context: WireContext): OpenCall;
  error(refusal: Refusal, requestId: string): unknown;
  streamError(refusal: Refusal): Frame;
  /** Name of the header that a request's id is told in. */
  requestIdHeader: string;
}

/** A request that was found in order, and how it can be answered. */
export interface OpenCall {
  request: WireRequest;
  /** As a stream. */
  frames(answer: WireAnswer): Frame[];
  /** In one piece. */
  whole(answer: WireAnswer): unknown;
}

const charactersPerToken = 4;
const piecesOfArguments = 3;

/** An estimate like the scripted model's own: four characters a token. */
export function tokensIn(...parts: unknown[]): number {
  const characters = parts.reduce<number>(
    (sum, part) =>
      sum + (typeof part === "string" ? part.length : part === undefined ? 0 : JSON.stringify(part).length),
    0,
  );
  return Math.ceil(characters / charactersPerToken);
}

/** Arguments come in pieces that are not valid JSON by themselves. */
export function cutArguments(args: string): string[] {
  const size = Math.max(1, Math.ceil(args.length / piecesOfArguments));
  return Array.from({ length: Math.ceil(args.length / size) }, (_, i) => args.slice(i * size, (i + 1) * size));
}

export function frame(event: string | null, data: unknown, isPiece = false): Frame {
  return { event, data: typeof data === "string" ? data : JSON.stringify(data), isPiece };
}
