import { type Document, isMap, isNode, isScalar, isSeq, type LineCounter, type Node } from "yaml";

/** The line of a key or list item, or of the nearest one around it where it is missing itself. */
export function lineOf(document: Document, path: readonly PropertyKey[], lines: LineCounter): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const node = childOf(parent, path[length - 1]);
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

/** A value may begin on a later line than its key, and the key is what people look for. */
function childOf(parent: unknown, key: PropertyKey | undefined): Node | null {
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
    return isNode(pair?.key) ? pair.key : null;
  }
  const item = isSeq(parent) && typeof key === "number" ? parent.items[key] : null;
  return isNode(item) ? item : null;
}
