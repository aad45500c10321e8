import { useEffect, useRef } from "react";
import { isPlainKey } from "../../lib/keys.ts";

const keys: readonly (readonly [string, string])[] = [
  ["↑ ↓ or k j", "previous, next run"],
  ["← →", "fold, unfold; or go to the parent or first child"],
  ["Home End", "first, last run"],
  ["Enter", "open the selected run"],
  ["Esc", "back to the tree; then close the run"],
  ["[ ]", "previous, next failure, also in folded runs"],
  ["?", "this help"],
];

export function HelpButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "?" && isPlainKey(event)) dialog.current?.showModal();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label="Keyboard help"
        title="Keyboard (?)"
        onClick={() => dialog.current?.showModal()}
      >
        ?
      </button>
      <dialog ref={dialog} className="help" aria-labelledby="help-title">
        <h2 id="help-title">Keyboard</h2>
        <dl>
          {keys.map(([key, effect]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
