import { z } from "zod";
import { schemaNames } from "./schemas.ts";

export type ComponentSchema = Record<string, unknown>;

/** Collects the schemas of a document under their names. */
export interface Schemas {
  /** The schema of a body that clients send, as a reference. */
  body(otherName: string, schema: z.ZodType): ComponentSchema;
  /** The schema of what the daemon sends, as a reference. */
  reply(otherName: string, schema: z.ZodType): ComponentSchema;
  components(): Record<string, ComponentSchema>;
}

const refOf = (name: string): string => `#/components/schemas/${name}`;

/**
 * Creates an empty collection. Replies refer to each other by their names. A body has everything in itself, because the
 * same schema has fewer required fields in a body than in a reply.
 */
export function createSchemas(): Schemas {
  const names = new Map(Object.entries(schemaNames).map(([name, schema]) => [schema, name]));
  const replies = z.registry<{ id: string }>();
  const bodies: Record<string, ComponentSchema> = {};

  return {
    body(otherName, schema) {
      const name = names.get(schema) ?? otherName;
      bodies[name] ??= schemaOf(schema, "input", explainDefault);
      return { $ref: refOf(name) };
    },
    reply(otherName, schema) {
      const id = names.get(schema) ?? otherName;
      if (!replies.has(schema)) replies.add(schema, { id });
      return { $ref: refOf(replies.get(schema)?.id ?? id) };
    },
    components() {
      // Parts of replies have their names too.
      for (const [schema, id] of names) {
        if (bodies[id] === undefined && !replies.has(schema)) replies.add(schema, { id });
      }
      const { schemas } = z.toJSONSchema(replies, { io: "output", unrepresentable: "any", uri: refOf, override: open });
      const { [sharedName]: shared, ...named } = schemas as Record<string, ComponentSchema>;
      const all = Object.entries({ ...named, ...(shared?.$defs as Record<string, ComponentSchema>), ...bodies });
      const sorted = all.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, schema]) => [name, withoutHead(schema)]);
      return withSharedRefs(Object.fromEntries(sorted));
    },
  };
}

/** The key under which zod puts schemas that refer to themselves. */
const sharedName = "__shared";

/** Makes each shared schema a component of its own: a reference into a reference is not a URI. */
function withSharedRefs(components: Record<string, ComponentSchema>): Record<string, ComponentSchema> {
  let text = JSON.stringify(components).replaceAll(`${refOf(sharedName)}#/$defs/`, refOf(""));
  const ofAnyJson = Object.keys(components).filter((name) => isAnyJson(name, components[name]));
  // The schema of `z.json()` refers to itself. An empty schema says the same, and every generator understands it.
  for (const name of ofAnyJson) text = text.replaceAll(JSON.stringify({ $ref: refOf(name) }), "{}");
  const all: Record<string, ComponentSchema> = JSON.parse(text);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !ofAnyJson.includes(name)));
}

function isAnyJson(name: string, schema: ComponentSchema | undefined): boolean {
  const text = JSON.stringify(schema);
  const types = ["string", "number", "boolean", "null", "array", "object"];
  return /^schema\d+$/.test(name) && types.every((type) => text.includes(`{"type":"${type}"`));
}

/** A later version adds fields, and a client must accept them. */
function open({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

/** The JSON schema of one zod schema, with everything in it. */
export function schemaOf(schema: z.ZodType, io: "input" | "output", override = keep): ComponentSchema {
  return withoutHead(z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline", override }));
}

type Override = (context: { jsonSchema: z.core.JSONSchema.BaseSchema }) => void;

const keep: Override = () => {};

/**
 * Moves a default into the description. Generators of types take a field with a default for one that is always there, and
 * would require it in a body.
 */
const explainDefault: Override = ({ jsonSchema }) => {
  if (jsonSchema.default === undefined) return;
  const text = `Default: \`${JSON.stringify(jsonSchema.default)}\`.`;
  jsonSchema.description = jsonSchema.description === undefined ? text : `${jsonSchema.description} ${text}`;
  delete jsonSchema.default;
};

function withoutHead({
  $schema: _dialect,
  $id: _id,
  "~standard": _standard,
  ...schema
}: ComponentSchema): ComponentSchema {
  return schema;
}
