import type { ApprovalRow } from "@troupe/core";
import { useState } from "react";
import { type Answer, type ApiProblem, api } from "../../lib/api.ts";
import { outcomeWords } from "../../lib/approvals.ts";
import { useAction } from "../../lib/use-action.ts";

/** Which button was pressed. */
export type Choice = "once" | "run" | "rule" | "deny";

export interface Answering {
  busy: Choice | null;
  /** What came of it; the row that says so follows by the stream, and takes the card away. */
  said: string | null;
  problem: ApiProblem | null;
  answer(choice: Choice, answer: Answer): void;
}

/** Sends one answer to one approval. */
export function useAnswer(row: ApprovalRow): Answering {
  const action = useAction<Choice>();
  const [said, setSaid] = useState<string | null>(null);
  const send = async (choice: Choice, answer: Answer): Promise<void> => {
    const result = await action.start(choice, () => api.answer(row.id, answer));
    if (result === null) return;
    const words = outcomeWords(result.approval);
    setSaid(result.outcome === "settled" ? `Nothing changed: it was settled before, ${words}` : words);
  };
  return {
    busy: action.busy,
    said,
    problem: action.problem,
    answer: (choice, answer) => void send(choice, answer),
  };
}
