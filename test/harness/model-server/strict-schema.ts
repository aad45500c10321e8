/** The reason why a JSON Schema cannot be enforced; null if it can. */
export function strictProblem(schema: unknown, context: readonly string[] = []): string | null {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return null;
  const own = ownProblem(schema, context.length === 0);
  if (own) return `In context=(${context.map((key) => `'${key}'`).join(", ")}), ${own}`;
  for (const [keys, inner] of branchesOf(schema)) {
    const problem = strictProblem(inner, [...context, ...keys]);
    if (problem) return problem;
  }
  return null;
}

function ownProblem(schema: Schema, isRoot: boolean): string | null {
  const { type, properties, required, additionalProperties, items, anyOf } = schema;
  const word = unsupported.find((each) => each in schema);
  if (word) return `'${word}' is not permitted.`;
  if (isRoot && anyOf !== undefined) return "the root of a schema must not be 'anyOf'.";
  if (type === "array" && items === undefined) return "array schema missing items.";
  if (type !== "object" && properties === undefined) return null;
  if (additionalProperties !== false) return "'additionalProperties' is required to be supplied and to be false.";
  const missing = Object.keys(properties ?? {}).find((key) => !required?.includes(key));
  return missing === undefined
    ? null
    : `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
}

function branchesOf({ properties, $defs, definitions, anyOf, items }: Schema): [string[], unknown][] {
  return [
    ...branches("properties", properties),
    ...branches("$defs", $defs),
    ...branches("definitions", definitions),
    ...branches("anyOf", anyOf),
    [["items"], items],
  ];
}

interface Schema {
  type?: unknown;
  properties?: Record<string, unknown>;
  required?: string[];
  additionalProperties?: unknown;
  items?: unknown;
  anyOf?: unknown[];
  $defs?: Record<string, unknown>;
  definitions?: Record<string, unknown>;
}

const unsupported = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
];

function branches(key: string, inner: object | undefined): [string[], unknown][] {
  return Object.entries(inner ?? {}).map(([name, branch]) => [[key, name], branch]);
}

/** Why the parameters of a function cannot be taken; null if they can. */
export function functionProblem(name: string, parameters: unknown, strict: boolean): string | null {
  const type = (parameters as { type?: unknown } | null | undefined)?.type;
  const prefix = `Invalid schema for function '${name}': `;
  if (parameters !== undefined && parameters !== null && type !== "object") {
    return `${prefix}schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(type ?? null)}'.`;
  }
  if (!strict) return null;
  const problem = strictProblem(parameters ?? { type: "object", properties: {} });
  return problem && prefix + problem;
}
