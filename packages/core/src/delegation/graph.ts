/** What a task of a batch waits for. */
export interface GraphNode {
  name: string;
  after: readonly string[];
}

/**
 * Why a graph of tasks cannot be run; null when it can. Checked before anything starts.
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

/** Places of the nodes that each node waits for. */
export function edgesOf(nodes: readonly GraphNode[]): number[][] {
  const places = new Map(nodes.map(({ name }, place) => [name, place]));
  return nodes.map(({ after }) => after.flatMap((name) => places.get(name) ?? []));
}

/** Takes away what waits for nothing, again and again: what remains waits for itself. */
function findCycle(nodes: readonly GraphNode[]): string[] | null {
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
  return first === undefined ? null : walk(first, waiting);
}

/** Follows what each waits for until a name comes a second time. */
function walk(start: string, waiting: ReadonlyMap<string, readonly string[]>): string[] {
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
