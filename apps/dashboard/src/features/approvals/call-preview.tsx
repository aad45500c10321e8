import type { CallPreview } from "@troupe/core";
import { describePreview, isOutside } from "@troupe/core/texts";
import type { ReactNode } from "react";
import { formatBytes, reveal } from "../../lib/format.ts";
import { ArgumentBlocks } from "./argument-blocks.tsx";

type EmailPreview = Extract<CallPreview, { kind: "email" }>;
type EventPreview = Extract<CallPreview, { kind: "event" }>;
type MessagePreview = Extract<CallPreview, { kind: "message" }>;

/** The email, event or message of a call, and its arguments on request: the answer is for exactly these. */
export function PreviewedCall({ preview, args }: { preview: CallPreview; args: unknown }) {
  return (
    <>
      <section className="preview" data-testid="call-preview" data-kind={preview.kind} aria-label="Preview of the call">
        <p className="preview-kind">{describePreview(preview)}</p>
        {preview.kind === "email" && <EmailCard email={preview} />}
        {preview.kind === "event" && <EventCard event={preview} />}
        {preview.kind === "message" && <MessageCard message={preview} />}
      </section>
      <details className="preview-arguments">
        <summary>All arguments</summary>
        <ArgumentBlocks args={args} />
      </details>
    </>
  );
}

function EmailCard({ email }: { email: EmailPreview }) {
  const { from, to, cc, bcc, external, subject, body, attachments } = email;
  return (
    <>
      <dl className="preview-fields">
        <Field name="From">
          <bdi>{reveal(from)}</bdi>
        </Field>
        <People name="To" people={to} external={external} />
        <People name="Cc" people={cc} external={external} />
        <People name="Bcc" people={bcc} external={external} />
        <Field name="Subject">
          <strong>
            <bdi>{reveal(subject) || "(no subject)"}</bdi>
          </strong>
        </Field>
        {attachments.length > 0 && (
          <Field name="Files">
            {attachments.map(({ name, bytes }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a preview never changes, and two files can have the same name
              <span key={i} className="preview-person">
                <bdi>{reveal(name)}</bdi> <span className="soft">{formatBytes(bytes)}</span>
              </span>
            ))}
          </Field>
        )}
      </dl>
      <Text label="Text of the email" text={body} />
    </>
  );
}

function EventCard({ event }: { event: EventPreview }) {
  const { title, when, repeats, location, attendees, external, visibility, description, changes } = event;
  return (
    <>
      <div className="preview-event">
        <DateBlock when={when} />
        <div>
          <p className="preview-title">
            <bdi>{reveal(title) || "(no title)"}</bdi>
          </p>
          <p>{reveal(when)}</p>
          {repeats !== null && <p className="soft">Repeats: {reveal(repeats)}</p>}
        </div>
      </div>
      <dl className="preview-fields">
        {location !== null && (
          <Field name="Where">
            <bdi>{reveal(location)}</bdi>
          </Field>
        )}
        <People name="People" people={attendees} external={external} />
        {visibility === "public" && (
          <Field name="Visible">
            <span className="external-tag">to everybody</span>
          </Field>
        )}
      </dl>
      {changes.length > 0 && <Changes changes={changes} />}
      {description !== null && <Text label="Description" text={description} />}
    </>
  );
}

function MessageCard({ message: { channel, thread, text } }: { message: MessagePreview }) {
  return (
    <>
      <dl className="preview-fields">
        <Field name="Channel">
          <strong>{reveal(channel)}</strong>
        </Field>
        {thread !== null && (
          <Field name="Thread">
            <bdi>{reveal(thread)}</bdi>
          </Field>
        )}
      </dl>
      <Text label="Text of the message" text={text} />
    </>
  );
}

function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Renders nothing for an empty list. */
function People({ name, people, external }: { name: string; people: readonly string[]; external: readonly string[] }) {
  if (people.length === 0) return null;
  return (
    <Field name={name}>
      {people.map((person) => (
        <span key={person} className="preview-person">
          <bdi>{reveal(person)}</bdi>
          {isOutside(person, external) && <span className="external-tag">external</span>}
        </span>
      ))}
    </Field>
  );
}

/** The texts of a preview begin with the day, such as `2026-11-24 14:00`. Without one, the words say it alone. */
function DateBlock({ when }: { when: string }) {
  const [, day] = /^(\d{4}-\d{2}-\d{2})/.exec(when) ?? [];
  const date = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(date)) return null;
  const part = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en", { timeZone: "UTC", ...options }).format(date);
  return (
    <div className="date-block" aria-hidden="true">
      <span>{part({ month: "short" })}</span>
      <strong>{part({ day: "numeric" })}</strong>
      <span>{part({ weekday: "short" })}</span>
    </div>
  );
}

function Changes({ changes }: Pick<EventPreview, "changes">) {
  return (
    <table className="preview-changes">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row">{reveal(field)}</th>
            <td>{before === "" ? <span className="soft">empty</span> : <del>{reveal(before)}</del>}</td>
            <td>{after === "" ? <span className="soft">empty</span> : <ins>{reveal(after)}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Plain text: no markup, link or picture of it is ever rendered. */
function Text({ label, text }: { label: string; text: string }) {
  const scrolls = text.length > 600 || text.split("\n").length > 10;
  if (!scrolls) return <pre className="agent-text preview-text">{reveal(text)}</pre>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, so the keyboard must reach it
    <pre className="agent-text preview-text" data-scrolls role="group" aria-label={label} tabIndex={0}>
      {reveal(text)}
    </pre>
  );
}
