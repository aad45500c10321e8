import { useState } from "react";
import { type ArgumentBlock, readArguments } from "../../lib/arguments.ts";

/** Characters that are put into the page at once; more only when asked for. */
const charsMax = 20_000;

/** From here on a block scrolls, and so has to be reached by the keyboard. */
const long = { chars: 240, lines: 6 };

/** All arguments of a call. Nothing is cut without saying so. */
export function ArgumentBlocks({ args }: { args: unknown }) {
  const blocks = readArguments(args);
  if (blocks.length === 0) return <p className="soft">Without arguments.</p>;
  return (
    <div className="arguments" data-testid="approval-arguments">
      {blocks.map((block, i) => (
        <Block
          // biome-ignore lint/suspicious/noArrayIndexKey: arguments never change, and two may have one name
          key={i}
          name={block.name ?? (blocks.length === 1 ? "arguments" : "other arguments")}
          text={block.text}
        />
      ))}
    </div>
  );
}

function Block({ name, text }: ArgumentBlock & { name: string }) {
  const [whole, setWhole] = useState(false);
  const lines = text.split("\n").length;
  const scrolls = text.length > long.chars || lines > long.lines;
  const cut = !whole && text.length > charsMax;
  return (
    <div className="argument">
      <p className="argument-name">
        {name}
        {scrolls && <span className="soft"> {sizeOf(text, lines)}</span>}
      </p>
      {scrolls ? (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to reach that
        <pre className="agent-text" data-scrolls role="group" aria-label={name} tabIndex={0}>
          {cut ? text.slice(0, charsMax) : text}
        </pre>
      ) : (
        <pre className="agent-text">{text}</pre>
      )}
      {cut && (
        <p className="cut-note">
          Not all is shown.{" "}
          <button type="button" className="link" onClick={() => setWhole(true)}>
            Show all {text.length.toLocaleString("en-US")} characters
          </button>
        </p>
      )}
    </div>
  );
}

function sizeOf(text: string, lines: number): string {
  const chars = `${text.length.toLocaleString("en-US")} characters`;
  return lines > 1 ? `${lines.toLocaleString("en-US")} lines, ${chars}` : chars;
}
