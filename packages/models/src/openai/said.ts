import type { ModelReply } from "@troupe/core";
import type { Thinking } from "@troupe/core/internal";
import type { SaidCall } from "./reply.ts";
import type { ServerEvent } from "./stream.ts";
import type { Tokens } from "./usage.ts";

/** A whole answer, as it came over one of the two wires. */
export interface Said {
  text: string;
  calls: SaidCall[];
  thoughts: Omit<Thinking, "provider" | "model">[];
  stopReason: ModelReply["stopReason"];
  /** The model that answered, and what it used; null where the server did not say. */
  model: string | null;
  tokens: Tokens | null;
}

/** Makes an answer out of events. Throws a `BrokenAnswer` where one of them is an error. */
export interface AnswerReader {
  /** Takes in an event, passing its words on. True: it was the last one. */
  take(event: ServerEvent): boolean;
  /**
   * What was said; null where the answer did not come to its end.
   *
   * @param closed whether the server said itself that nothing more comes
   */
  end(closed: boolean): Said | null;
}
