import { useState } from "react";

/**
 * Text that somebody else wrote, as text: never as markup. A long one is cut until asked for, so that one huge answer
 * cannot make the page heavy.
 */
export function LongText({ text, charsMax = 1_200 }: { text: string; charsMax?: number }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > charsMax + 200;
  return (
    <>
      <p className="agent-text">{cut ? `${text.slice(0, charsMax)}…` : text}</p>
      {cut && (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString("en-US")} characters
        </button>
      )}
    </>
  );
}
