/** A task of a batch, and the names of the tasks that it waits for. */
export interface GraphNode {
  name: string;
  after: readonly string[];
}

/**
 * The reason why a graph of tasks cannot run; null if it can.
 *
 * @example
 * findGraphProblem([{ name: "a", after: ["b"] }, { name: "b", after: ["a"] }]); // "after: a → b → a is a cycle"
 */
export function findGraphProblem(nodes: readonly GraphNode[]): string | null {
  const names = new Set<string>();
  for (const { name } of nodes) {
    if (names.has(name)) return `two tasks are named ${quoted(name)}: give each its own name`;
    names.add(name);
  }
  for (const { name, after } of nodes) {
    const unknown = after.find((other) => !names.has(other));
    if (unknown !== undefined) {
      return `after: ${quoted(name)} waits for ${quoted(unknown)}, which is no task here; there are: ${[...names].join(", ")}`;
    }
  }
  const cycle = findCycle(nodes);
  return cycle && `after: ${cycle.join(" → ")} is a cycle`;
}

/** Indexes of the nodes that each node waits for. */
export function edgesOf(nodes: readonly GraphNode[]): number[][] {
  const indexes = new Map(nodes.map(({ name }, index) => [name, index]));
  return nodes.map(({ after }) => after.flatMap((name) => indexes.get(name) ?? []));
}

/**
 * The names along a cycle, the first one again at the end; null without a cycle. Names that are no node count as free.
 *
 * Removes free nodes until none is left. The remaining nodes contain a cycle.
 */
export function findCycle(nodes: readonly GraphNode[]): string[] | null {
  const waiting = new Map(nodes.map(({ name, after }) => [name, after]));
  let removed = true;
  while (removed) {
    removed = false;
    for (const [name, after] of waiting) {
      if (after.some((other) => waiting.has(other))) continue;
      waiting.delete(name);
      removed = true;
    }
  }
  const first = waiting.keys().next().value;
  return first === undefined ? null : cycleFrom(first, waiting);
}

/** Follows the edges until a name repeats. */
function cycleFrom(start: string, waiting: ReadonlyMap<string, readonly string[]>): string[] {
  const path = [start];
  for (;;) {
    const next = waiting.get(path.at(-1) ?? start)?.find((name) => waiting.has(name)) ?? start;
    const seen = path.indexOf(next);
    path.push(next);
    if (seen >= 0) return path.slice(seen);
  }
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
