import type { ConversationCall, ConversationItem, ConversationText } from "@troupe/core/internal";
import type { ReactNode } from "react";
import { Markdown } from "../../components/markdown.tsx";
import { LongText } from "../../components/text-blocks.tsx";
import { formatCost, formatCount, formatDuration, reveal } from "../../lib/format.ts";
import { selectRun } from "../../lib/navigation.ts";

type ItemOf<K extends ConversationItem["kind"]> = ConversationItem & { kind: K };

/** One part of a conversation. */
export function ConversationPart({ item }: { item: ConversationItem }) {
  switch (item.kind) {
    case "request":
      return <Request item={item} />;
    case "reply":
      return <Reply item={item} />;
    case "result":
      return <Result item={item} />;
    case "failure":
      return (
        <Titled title={`Step ${item.step}`} facts={[formatDuration(item.durationMs)]}>
          <LongText text={`The model call failed: ${item.error}`} />
        </Titled>
      );
    case "question":
      return (
        <Titled title={`Asks to ${item.tool === null ? "start" : `run ${reveal(item.tool)}`}`} facts={[]}>
          <LongText text={item.reason} />
        </Titled>
      );
    case "command":
      return (
        <Titled title={reveal(item.by ?? "user")} facts={["to the agent"]}>
          <Prose text={item.text} />
        </Titled>
      );
    case "note":
      return <LongText text={item.text.text} charsMax={600} />;
    case "answer":
      return (
        <Titled title="Answer" facts={[item.status.replaceAll("_", " "), item.bailoutReason ?? ""]}>
          {item.error !== null && <LongText text={item.error} />}
          <Prose text={item.text} />
        </Titled>
      );
  }
}

function Titled({ title, facts, children }: { title: string; facts: readonly string[]; children: ReactNode }) {
  const shown = facts.filter((fact) => fact !== "");
  return (
    <>
      <h3>
        {title} {shown.length > 0 && <span className="soft figure">{shown.join(" · ")}</span>}
      </h3>
      {children}
    </>
  );
}

function Request({ item: { from, task, context, prompt, earlierMessages } }: { item: ItemOf<"request"> }) {
  const facts = earlierMessages === 0 ? [] : [`${earlierMessages} messages of earlier turns`];
  return (
    <Titled title={from === null ? "User" : reveal(from)} facts={facts}>
      <Prose text={task} />
      {context && <Folded name="Passed context" text={context} />}
      <Folded name="System prompt" text={prompt} />
    </Titled>
  );
}

function Reply({ item }: { item: ItemOf<"reply"> }) {
  const { step, model, durationMs, inputTokens, outputTokens, costUsd, retries, text, calls, callsLeftOut } = item;
  const tokens = `${formatCount(inputTokens + outputTokens)} tokens`;
  const failed = retries === 0 ? "" : `after ${retries} failed ${retries === 1 ? "request" : "requests"}`;
  return (
    <Titled
      title={`Step ${step}`}
      facts={[reveal(model), formatDuration(durationMs), tokens, formatCost(costUsd), failed]}
    >
      {text.text !== "" && <Prose text={text} />}
      {calls.map((call) => (
        <Call key={call.call} call={call} />
      ))}
      {callsLeftOut > 0 && <p className="soft">and {callsLeftOut} further calls</p>}
    </Titled>
  );
}

/** A tool call with all of its arguments. A long argument is folded. */
function Call({ call: { name, args, argsCut, problem } }: { call: ConversationCall }) {
  const isFields = argsCut === null && typeof args === "object" && args !== null && !Array.isArray(args);
  const fields = isFields ? Object.entries(args) : [["", args] as const];
  return (
    <div className="conversation-call" data-testid="conversation-call">
      <p>
        <span aria-hidden="true">⚙</span> <strong>{reveal(name)}</strong>
      </p>
      <dl>
        {fields.map(([key, value]) => (
          <div key={key}>
            {key !== "" && <dt>{reveal(key)}</dt>}
            <dd>
              <Plain text={typeof value === "string" ? value : JSON.stringify(value)} />
            </dd>
          </div>
        ))}
      </dl>
      {argsCut && <CutNote cut={argsCut} />}
      {problem !== null && <p className="soft">{reveal(problem)}</p>}
    </div>
  );
}

function Result({ item }: { item: ItemOf<"result"> }) {
  const { tool, durationMs, error, isInDoubt, child, text, files } = item;
  const outcome = isInDoubt ? "in doubt" : error === null ? "ok" : "failed";
  const name = child === null ? tool : child.agent;
  const attempt = child !== null && child.attempt > 1 ? `attempt ${child.attempt}` : "";
  return (
    <Titled title={`Result of ${reveal(name)}`} facts={[formatDuration(durationMs), outcome, attempt]}>
      {error !== null && <Plain text={error} />}
      {child === null ? <Plain text={text.text} /> : <Prose text={text} />}
      {child === null && text.cut && <CutNote cut={text.cut} />}
      {files.length > 0 && <p className="soft agent-text">Files: {files.map(reveal).join(", ")}</p>}
      {child && (
        <button type="button" className="link" onClick={() => selectRun(child.run)}>
          Show the conversation of {child.agent}
        </button>
      )}
    </Titled>
  );
}

/** Text that an agent or a person wrote. */
function Prose({ text: { text, cut } }: { text: ConversationText }) {
  return (
    <>
      <Markdown text={text} />
      {cut && <CutNote cut={cut} />}
    </>
  );
}

/** Text of a tool, shown exactly as it is, without the meaning of any character. */
function Plain({ text }: { text: string }) {
  if (text === "") return null;
  return (
    <div className="conversation-plain">
      <LongText text={reveal(text)} charsMax={800} />
    </div>
  );
}

function Folded({ name, text: { text, cut } }: { name: string; text: ConversationText }) {
  return (
    <details>
      <summary>
        {name}, {formatCount(cut?.characters ?? text.length)} characters
      </summary>
      <Plain text={text} />
      {cut && <CutNote cut={cut} />}
    </details>
  );
}

function CutNote({ cut: { characters, entry } }: { cut: { characters: number; entry: number } }) {
  return (
    <p className="soft">
      The first part of {characters.toLocaleString("en-US")} characters. Entry {entry} of the run has the rest.
    </p>
  );
}
