import { useState } from "react";
import { type ArgumentBlock, formatArguments } from "../../lib/arguments.ts";

/** The page shows more characters only on request. */
const charsMax = 20_000;

/** A larger block scrolls, so it must be focusable for the keyboard. */
const scrollFrom = { chars: 240, lines: 6 };

/** All arguments of a call. A cut block shows that it is cut. */
export function ArgumentBlocks({ args }: { args: unknown }) {
  const blocks = formatArguments(args);
  if (blocks.length === 0) return <p className="soft">No arguments.</p>;
  return (
    <div className="arguments" data-testid="approval-arguments">
      {blocks.map((block, i) => (
        <Block
          // biome-ignore lint/suspicious/noArrayIndexKey: arguments never change, and two can have the same name
          key={i}
          name={block.name ?? (blocks.length === 1 ? "arguments" : "other arguments")}
          text={block.text}
        />
      ))}
    </div>
  );
}

function Block({ name, text }: ArgumentBlock & { name: string }) {
  const [isExpanded, setExpanded] = useState(false);
  const lines = text.split("\n").length;
  const scrolls = text.length > scrollFrom.chars || lines > scrollFrom.lines;
  const isCut = !isExpanded && text.length > charsMax;
  return (
    <div className="argument">
      <p className="argument-name">
        {name}
        {scrolls && <span className="soft"> {sizeOf(text, lines)}</span>}
      </p>
      {scrolls ? (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, so the keyboard must reach it
        <pre className="agent-text" data-scrolls role="group" aria-label={name} tabIndex={0}>
          {isCut ? text.slice(0, charsMax) : text}
        </pre>
      ) : (
        <pre className="agent-text">{text}</pre>
      )}
      {isCut && (
        <p className="cut-note">
          This is only the beginning.{" "}
          <button type="button" className="link" onClick={() => setExpanded(true)}>
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
