import { type FormEvent, useEffect, useRef, useState } from "react";
import { ActionButton } from "../../components/action-button.tsx";

interface Props {
  id: string;
  busy: boolean;
  disabled: boolean;
  onDeny(reason: string | null): void;
}

/** A no, and why. */
export function DenyForm({ id, busy, disabled, onDeny }: Props) {
  const [reason, setReason] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!busy) onDeny(reason.trim() || null);
  };
  return (
    <form id={id} className="approval-form" onSubmit={submit}>
      <label htmlFor={`${id}-reason`}>
        Reason <span className="soft">(optional, the agent reads it)</span>
      </label>
      <div className="one-line">
        <input
          id={`${id}-reason`}
          ref={input}
          value={reason}
          maxLength={2_000}
          autoComplete="off"
          onChange={(event) => setReason(event.target.value)}
        />
        <ActionButton type="submit" className="danger" data-testid="deny-now" busy={busy} disabled={disabled}>
          Deny
        </ActionButton>
      </div>
    </form>
  );
}
