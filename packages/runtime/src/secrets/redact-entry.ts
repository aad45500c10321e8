import { EntryBody, type Message, type ModelReply, type Redactor } from "@troupe/core";
import { redactAs } from "./redact-as.ts";

/** A fact without the secrets in it: the same fact where nothing was found. */
export function redactEntry(body: EntryBody, redact: Redactor): EntryBody {
  return redactAs(EntryBody, withoutToldThoughts(body, redact), redact);
}

/** Wherever a model's thoughts stand in an entry. */
function withoutToldThoughts(body: EntryBody, redact: Redactor): EntryBody {
  if (body.kind === "model.replied") return { ...body, reply: keepingThoughts(body.reply, redact) };
  if (body.kind !== "run.opened") return body;
  const history = body.pin.history.map((message) =>
    message.role === "assistant" ? keepingThoughts(message, redact) : message,
  );
  return { ...body, pin: { ...body.pin, history } };
}

type Said = ModelReply | (Message & { role: "assistant" });

/**
 * Thoughts are signed by whoever thought them: they cannot be changed, only dropped, and then all of one reply, since a
 * provider wants what belongs together. Where they stood is counted in characters of a text that may become another.
 */
function keepingThoughts<T extends Said>(said: T, redact: Redactor): T {
  const { thinking, ...rest } = said;
  if (!thinking) return said;
  if (redact.json(thinking) !== thinking) return rest as T;
  const lengthOf = (end: number): number => redact.text(said.text.slice(0, end)).length;
  const length = lengthOf(said.text.length);
  const placed = thinking.map((each) => ({ ...each, textBefore: Math.min(lengthOf(each.textBefore), length) }));
  return { ...said, thinking: placed };
}
