import type { SyntaxNode } from "../syntax/tree-sitter.ts";

/** The comment right above something, attributes between them aside; a comment at the end of another line is not one. */
export function commentBefore(node: SyntaxNode, between: ReadonlySet<string> = new Set()): SyntaxNode | null {
  let below = node;
  let before = node.previousNamedSibling;
  while (before && between.has(before.type)) {
    below = before;
    before = before.previousNamedSibling;
  }
  if (!before?.type.endsWith("comment") || lastRowOf(before) + 1 < below.startPosition.row) return null;
  return before.previousNamedSibling?.endPosition.row === before.startPosition.row &&
    !before.previousNamedSibling.type.endsWith("comment")
    ? null
    : before;
}

/** Some grammars count a line comment's end of line as a part of it. */
function lastRowOf(comment: SyntaxNode): number {
  return comment.text.endsWith("\n") ? comment.endPosition.row - 1 : comment.endPosition.row;
}
