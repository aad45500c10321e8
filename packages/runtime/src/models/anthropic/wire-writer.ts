import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { Thinking } from "@troupe/core";
import type { Prefix } from "./prefix.ts";

export type Blocks = ContentBlockParam[];
export type WireMessage = MessageParam & { role: "user" | "assistant"; content: Blocks };

export interface Reader {
  /** Id of the provider that will read it, and the model, without that id: thoughts of others are left out. */
  provider: string;
  model: string;
  /** For a model that takes its thoughts back only where nothing has changed before them. */
  prefix: Prefix | null;
}

export interface WireWriter {
  readonly messages: WireMessage[];
  /** Place of the last message that has lost a thought: the reader did not think it, or would refuse it here. */
  readonly lostAt: number;
  write(role: WireMessage["role"], blocks: Blocks): void;
  writeThought(thought: Thinking): void;
}

/** Writes messages block by block, so that those of one role in a row become one, and the prefix knows what is sent. */
export function createWireWriter({ provider, model, prefix }: Reader): WireWriter {
  const messages: WireMessage[] = [];
  let lostAt = -1;
  let hasChanged = false;

  const write = (role: WireMessage["role"], blocks: Blocks): void => {
    if (blocks.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
    for (const block of blocks) prefix?.add([role, block]);
  };

  /** One thought that is left out makes all of the model's later ones come after something else than they did. */
  const isReadable = (thought: Thinking): boolean => {
    if (thought.provider !== provider || thought.model !== model) return false;
    if (prefix && thought.prefix !== prefix.mark()) hasChanged = true;
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
