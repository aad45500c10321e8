import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { Thinking } from "@troupe/core/internal";
import type { ThinkingSignatures } from "./thinking-signatures.ts";

export type Blocks = ContentBlockParam[];
export type WireMessage = MessageParam & { role: "user" | "assistant"; content: Blocks };

export interface Reader {
  /** Id of the provider that will read it, and the model, without that id: thoughts of others are left out. */
  provider: string;
  model: string;
  seals: ThinkingSignatures;
}

export interface WireWriter {
  readonly messages: WireMessage[];
  /** Place of the last message that has lost a thought: the reader did not think it, or would refuse it here. */
  readonly lostAt: number;
  write(role: WireMessage["role"], blocks: Blocks): void;
  writeThought(thought: Thinking): void;
}

/** Writes messages block by block, so that those of one role in a row become one, and the seals know what is sent. */
export function createWireWriter({ provider, model, seals }: Reader): WireWriter {
  const messages: WireMessage[] = [];
  let lostAt = -1;
  let hasChanged = false;

  const write = (role: WireMessage["role"], blocks: Blocks): void => {
    if (blocks.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
    for (const block of blocks) seals.add([role, block]);
  };

  /** Where one was changed or has lost its place, whatever is thought later is not what it was either. */
  const isReadable = (thought: Thinking): boolean => {
    if (thought.provider !== provider || thought.model !== model) return false;
    hasChanged ||= thought.seal !== seals.of(thought.block);
    return !hasChanged;
  };

  return {
    messages,
    get lostAt() {
      return lostAt;
    },
    write,
    writeThought(thought) {
      if (isReadable(thought)) write("assistant", [thought.block as unknown as ContentBlockParam]);
      else lostAt = messages.at(-1)?.role === "assistant" ? messages.length - 1 : messages.length;
    },
  };
}
