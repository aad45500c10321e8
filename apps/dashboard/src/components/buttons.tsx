import {
  type ButtonHTMLAttributes,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useState,
} from "react";

interface ActionButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** A request is in progress. The button ignores presses but keeps the focus, unlike a disabled button. */
  busy?: boolean;
}

/** A button that sends a request to the daemon. */
export function ActionButton({ busy = false, onClick, children, ...rest }: ActionButtonProps) {
  const press = (event: MouseEvent<HTMLButtonElement>): void => {
    if (busy) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button type="button" {...rest} aria-disabled={busy || undefined} onClick={press}>
      {children}
    </button>
  );
}

/** The time in which the second press must follow. */
const armedMs = 6_000;

interface ConfirmButtonProps {
  children: ReactNode;
  /** Label after the first press. */
  confirmLabel: string;
  /** Label during the request. */
  busyLabel: string;
  busy: boolean;
  disabled?: boolean;
  testId?: string;
  /** The effect of the action, for the tooltip and for screen readers. */
  warning: string;
  onConfirm(): void;
}

/** Runs an action that cannot be undone, after a second press. Escape or a lost focus cancels the first press. */
export function ConfirmButton({
  children,
  confirmLabel,
  busyLabel,
  busy,
  disabled,
  testId,
  warning,
  onConfirm,
}: ConfirmButtonProps) {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return;
    const timer = setTimeout(() => setArmed(false), armedMs);
    return () => clearTimeout(timer);
  }, [armed]);

  const press = (event: MouseEvent): void => {
    // A double click counts as one press.
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
        {busy ? busyLabel : armed ? confirmLabel : children}
      </ActionButton>
      <span className="visually-hidden" role="status">
        {armed ? `${warning} Press again to confirm.` : ""}
      </span>
    </>
  );
}

/** Copies a text and shows the result for a moment. */
export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [result, setResult] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setResult("Copied");
    } catch {
      setResult("Not allowed");
    }
    setTimeout(() => setResult(null), 1_500);
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {result ?? label}
    </button>
  );
}
