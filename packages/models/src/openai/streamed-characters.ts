/** An answer has its pieces at most this deep: `tool_calls[0].function.arguments`. */
const depthMax = 4;

/**
 * Characters of the answer in one event of either API, for an estimate: all texts below `delta`, with the few that are ids
 * and names. An event of another form has none.
 */
export function charactersIn(data: unknown): number {
  const event = fieldsOf(data);
  const [choice] = Array.isArray(event.choices) ? event.choices : [];
  return lengthOf(event.delta ?? fieldsOf(choice).delta, depthMax);
}

function lengthOf(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length;
  if (depth === 0) return 0;
  return Object.values(fieldsOf(value)).reduce<number>((sum, each) => sum + lengthOf(each, depth - 1), 0);
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
