import { Cell } from "./cell.tsx";
import type { Tree } from "./use-tree.ts";

const columns: readonly (readonly [string, string])[] = [
  ["status", "Status"],
  ["time", "Time"],
  ["age", "Last event"],
  ["depth", "Depth"],
  ["steps", "Steps"],
  ["tools", "Tools"],
  ["tokens", "Tokens"],
  ["cost", "Cost"],
];

/** The names of the columns, and what folds all. */
export function TreeHead({ tree }: { tree: Tree }) {
  const nested = tree.roots.some((root) => root.children.some((child) => child.children.length > 0));
  return (
    // biome-ignore lint/a11y/useSemanticElements: see TreeGrid
    // biome-ignore lint/a11y/useFocusableInteractive: a head is not a stop of the rows' keys
    <div role="row" className="tree-row tree-head" aria-rowindex={1}>
      <Cell name="run" head>
        <span>Run</span>
        {nested && (
          <span className="fold-all">
            <button type="button" className="link" onClick={tree.foldAll}>
              Fold all
            </button>
            <button type="button" className="link" onClick={tree.unfoldAll}>
              Unfold all
            </button>
          </span>
        )}
      </Cell>
      {columns.map(([key, word]) => (
        <Cell key={key} name={key} head>
          {word}
        </Cell>
      ))}
    </div>
  );
}
