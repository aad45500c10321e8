/** No page that is meant to be read is deeper; extraction takes longer with the square of it, or dies. */
const depthMax = 200;

interface TreeNode {
  readonly firstChild: TreeNode | null;
  readonly nextSibling: TreeNode | null;
  readonly parentNode: TreeNode | null;
}

/** Walks the tree without going into itself, so that no depth is too much for the walk. */
export function tooDeep(root: TreeNode): boolean {
  let depth = 0;
  for (let node: TreeNode | null = root; node; ) {
    if (node.firstChild) {
      depth += 1;
      if (depth > depthMax) return true;
      node = node.firstChild;
      continue;
    }
    while (node && node !== root && !node.nextSibling) {
      node = node.parentNode;
      depth -= 1;
    }
    node = node === root ? null : (node?.nextSibling ?? null);
  }
  return false;
}
