import type { ButtonHTMLAttributes, MouseEvent } from "react";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** While something is under way: it cannot be pressed, but keeps the focus, which a disabled button loses. */
  busy?: boolean;
}

/** A button that asks something of the daemon. */
export function ActionButton({ busy = false, onClick, children, ...rest }: Props) {
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
