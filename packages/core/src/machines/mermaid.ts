import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from "xstate";

/** An arrow between two states of the same level. */
interface Edge {
  from: AnyStateNode;
  to: AnyStateNode;
  label: string;
}

/** Edges by their enclosing state, and notes for transitions that cannot be edges. */
interface Drawing {
  edges: Map<AnyStateNode, Edge[]>;
  notes: string[];
}

/**
 * Renders a machine's states and transitions as a Mermaid `stateDiagram-v2`, for documents and `troupe inspect machine`.
 *
 * Mermaid cannot draw an edge between inner states of two different states. Such an edge connects the outer states, and
 * its label names the inner states. Transitions that only change the context are left out.
 *
 * @example
 * machineToMermaid(delegationMachine).split("\n")[1]; // "  [*] --> queued"
 */
export function machineToMermaid(machine: AnyStateMachine): string {
  const { root } = machine;
  const drawing: Drawing = { edges: new Map(), notes: [] };
  for (const node of descendants(root)) {
    if (node !== root && !isLeaf(node)) drawing.notes.push(...effectsOf(node).map((name) => noteOn(node, name)));
    for (const transition of [...(node.always ?? []), ...[...node.transitions.values()].flat()]) {
      for (const target of transition.target ?? []) draw(drawing, node, target, labelOf(transition));
    }
  }
  return ["stateDiagram-v2", ...inside(root, drawing), ...drawing.notes].join("\n  ").concat("\n");
}

/** Adds a transition at the level where Mermaid can draw it: where the paths of its two ends diverge. */
function draw({ edges, notes }: Drawing, source: AnyStateNode, target: AnyStateNode, label: string): void {
  const divergence = source.path.findIndex((key, i) => key !== target.path[i]);
  const depth = Math.min(divergence === -1 ? source.path.length : divergence, target.path.length - 1);
  if (depth === source.path.length) {
    const scope = source.parent ? `anywhere in ${source.key}` : "anywhere";
    notes.push(noteOn(target, `${scope} on ${label}`));
    return;
  }
  const [from, to] = [ancestorAt(source, depth + 1), ancestorAt(target, depth + 1)];
  const scope = from.parent ?? from;
  const left = source === from ? "" : source.path.slice(depth + 1).join(".");
  const entered = target === to ? "" : `→ ${target.path.slice(depth + 1).join(".")}`;
  const parts = [[left, label].filter(Boolean).join(", "), entered].filter(Boolean);
  edges.set(scope, [...(edges.get(scope) ?? []), { from, to, label: parts.join(" ") }]);
}

/** The lines inside a state: its initial state, its children, and the edges between them. */
function inside(node: AnyStateNode, drawing: Drawing): string[] {
  const initial = node.initial?.target?.[0];
  const children = Object.values(node.states);
  return [
    ...(initial ? [`[*] --> ${idOf(initial)}`] : []),
    ...children.flatMap((child) => stateOf(child, drawing)),
    ...(drawing.edges.get(node) ?? []).map(({ from, to, label }) =>
      [idOf(from), "-->", idOf(to), ...(label ? [":", label] : [])].join(" "),
    ),
    ...children.filter((child) => child.type === "final").map((child) => `${idOf(child)} --> [*]`),
  ];
}

function stateOf(node: AnyStateNode, drawing: Drawing): string[] {
  const id = idOf(node);
  const name = id === node.key ? `state ${id}` : `state "${node.key}" as ${id}`;
  if (isLeaf(node)) return [name, ...effectsOf(node).map((effect) => `${id} : ${effect}`)];
  return [`${name} {`, ...inside(node, drawing).map((line) => `  ${line}`), "}"];
}

function effectsOf(node: AnyStateNode): string[] {
  return node.invoke.map(({ src }) => String(src));
}

function noteOn(node: AnyStateNode, text: string): string {
  return `note right of ${idOf(node)} : ${text}`;
}

function isLeaf(node: AnyStateNode): boolean {
  return Object.keys(node.states).length === 0;
}

function descendants(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values<AnyStateNode>(node.states).flatMap(descendants)];
}

/** The node or its ancestor at this depth; a shallower node is returned as it is. */
function ancestorAt(node: AnyStateNode, depth: number): AnyStateNode {
  return node.path.length > depth && node.parent ? ancestorAt(node.parent, depth) : node;
}

function idOf(node: AnyStateNode): string {
  return node.path.join("_");
}

/** The event, and the guard in brackets. A transition without an event has only its guard. */
function labelOf({ eventType, guard }: AnyTransitionDefinition): string {
  const name = typeof guard === "object" && guard !== null ? String(guard.type) : guard;
  return [eventType, typeof name === "string" ? `[${name}]` : ""].filter((part) => part !== "").join(" ");
}
