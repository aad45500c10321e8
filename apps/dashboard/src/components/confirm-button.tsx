import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useState } from "react";
import { ActionButton } from "./action-button.tsx";

/** After this time a first press counts for nothing. */
const patienceMs = 6_000;

interface Props {
  children: ReactNode;
  /** What the button says after the first press. */
  sure: string;
  /** What it says while it is done. */
  doing: string;
  busy: boolean;
  disabled?: boolean;
  testId?: string;
  /** What is lost, for those who hear the page and for the tooltip. */
  warning: string;
  onConfirm(): void;
}

/** Does something that cannot be undone, at the second press. Leaving it, or Escape, takes the first one back. */
export function ConfirmButton({ children, sure, doing, busy, disabled, testId, warning, onConfirm }: Props) {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return;
    const timer = setTimeout(() => setArmed(false), patienceMs);
    return () => clearTimeout(timer);
  }, [armed]);

  const press = (event: MouseEvent): void => {
    // The second half of a double click is no second thought.
    if (event.detail > 1) return;
    setArmed(!armed);
    if (armed) onConfirm();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !armed) return;
    event.stopPropagation();
    setArmed(false);
  };
  return (
    <>
      <ActionButton
        className="danger"
        data-testid={testId}
        data-armed={armed}
        title={warning}
        busy={busy}
        disabled={disabled}
        onClick={press}
        onBlur={() => setArmed(false)}
        onKeyDown={onKeyDown}
      >
        {busy ? doing : armed ? sure : children}
      </ActionButton>
      <span className="heard-only" role="status">
        {armed ? `${warning} Press again to do it.` : ""}
      </span>
    </>
  );
}
