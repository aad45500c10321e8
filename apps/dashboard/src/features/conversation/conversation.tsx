import type { RunRow } from "@troupe/core";
import { LongText, ProblemNote } from "../../components/text-blocks.tsx";
import { usePage } from "../../lib/page-context.ts";
import { isActive } from "../../lib/status.ts";
import { ConversationPart } from "./conversation-part.tsx";
import { useConversation } from "./use-conversation.ts";

/** The conversation of a run: its request, replies with calls and results, and its answer. It grows while the run works. */
export function Conversation({ run }: { run: RunRow }) {
  const { items, isLoading, isCut, problem } = useConversation(run);
  const note = usePage((state) => state.notes.get(run.run));
  const isEmpty = items.length === 0 && !isLoading && problem === null;
  return (
    <section className="conversation" aria-label="Conversation" data-testid="conversation">
      {isLoading && items.length === 0 && <p className="soft">Loading the conversation…</p>}
      {isEmpty && <p className="soft">This run has not begun yet.</p>}
      <ol className="conversation-parts">
        {items.map((item, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end
          <li key={i} className="conversation-part" data-kind={item.kind} data-failed={isFailed(item) || undefined}>
            <ConversationPart item={item} />
          </li>
        ))}
        {isActive(run) && note && note.text !== "" && (
          <li className="conversation-part" data-kind="live">
            <h3>writes now</h3>
            <LongText text={note.text} charsMax={6_000} />
          </li>
        )}
      </ol>
      {isCut && (
        <p className="soft">
          The page shows the first {items.length.toLocaleString("en-US")} parts. For all of them:{" "}
          <code>
            troupe sessions show {run.session} --log --run {run.run}
          </code>
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}

function isFailed(item: Parameters<typeof ConversationPart>[0]["item"]): boolean {
  if (item.kind === "failure") return true;
  return (item.kind === "result" || item.kind === "answer") && item.error !== null;
}
