import { type FormEvent, useState } from "react";
import { ActionButton } from "../../components/action-button.tsx";

interface Props {
  id: string;
  tool: string;
  busy: boolean;
  disabled: boolean;
  onApprove(anyArguments: boolean): void;
}

/** How far a rule reaches. */
export function AlwaysForm({ id, tool, busy, disabled, onApprove }: Props) {
  const [anyArguments, setAnyArguments] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!busy) onApprove(anyArguments);
  };
  const option = (any: boolean, words: string) => (
    <label className="choice">
      <input type="radio" name={`${id}-reach`} checked={anyArguments === any} onChange={() => setAnyArguments(any)} />
      {words}
    </label>
  );
  return (
    <form id={id} className="approval-form" onSubmit={submit}>
      <fieldset>
        <legend>Always approve {tool} with</legend>
        {option(false, "these arguments")}
        {option(true, `any arguments of ${tool}`)}
      </fieldset>
      <p className="hint">Kept as a rule on this machine. Rules are listed, and removed, under Approvals.</p>
      <ActionButton type="submit" className="primary" data-testid="approve-rule" busy={busy} disabled={disabled}>
        Approve always
      </ActionButton>
    </form>
  );
}
