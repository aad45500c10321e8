import { TroupeError } from "@troupe/core";
import { encode, protocolVersion } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";

/** Who is there? */
export const question = encode({ v: protocolVersion, kind: "hosts.asked" });

/** Silence after which it is not the others who are silent, but this process that hears nobody. */
const replyMs = 2_000;

/**
 * Asks all hosts who they are; one question for all who want to know at the same time. Resolves when one of them has
 * answered, or when there is nobody; what they have to say, they say to all. Fails where nobody can be asked.
 */
export function createQuestion({ bus, subjects }: Pick<HostDeps, "bus" | "subjects">): () => Promise<void> {
  let asking: Promise<void> | null = null;
  const ask = async (): Promise<void> => {
    try {
      await bus.request(subjects.control("all"), question, { timeoutMs: replyMs });
    } catch (error) {
      if (TroupeError.is(error) && error.code === "NO_RESPONDERS") return;
      throw error;
    }
  };
  return () => {
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  };
}
