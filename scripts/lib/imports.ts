import { parseSync, Visitor } from "vite";

/** One mention of another module in a file: `import`, `export … from`, `import()`, `require()`, a type's `import("…")`. */
export interface ImportSite {
  specifier: string;
  line: number;
  /** Erased when compiled: `import type`, `export type`, or an import inside a type. */
  typeOnly: boolean;
}

/** The parts of a node that may hold a module specifier. */
interface Literal {
  type: string;
  value?: unknown;
  quasis?: { value: { cooked: string | null } }[];
}

/** Every import of a TypeScript file whose specifier is a literal. Throws on a file that does not parse. */
export function importsOf(file: string, text: string): ImportSite[] {
  const { program, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const sites: ImportSite[] = [];
  const add = (source: Literal | null | undefined, start: number, typeOnly: boolean): void => {
    const specifier = source && literalText(source);
    if (typeof specifier === "string") sites.push({ specifier, line: lineAt(text, start), typeOnly });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source, node.start, node.importKind === "type"),
    ExportNamedDeclaration: (node) => add(node.source, node.start, node.exportKind === "type"),
    ExportAllDeclaration: (node) => add(node.source, node.start, node.exportKind === "type"),
    ImportExpression: (node) => add(node.source, node.start, false),
    TSImportType: (node) => add(node.source, node.start, true),
    TSExternalModuleReference: (node) => add(node.expression, node.start, false),
    CallExpression: (node) => {
      if (resolvers.has(text.slice(node.callee.start, node.callee.end))) add(node.arguments[0], node.start, false);
    },
  }).visit(program);
  return sites.sort((a, b) => a.line - b.line);
}

/** Calls that load or look up a module by name, beside `import()`. */
const resolvers = new Set(["require", "require.resolve", "import.meta.resolve", "vi.mock", "vi.importActual"]);

function literalText(node: Literal): string | null {
  if (node.type === "TemplateLiteral") return node.quasis?.length === 1 ? (node.quasis[0]?.value.cooked ?? null) : null;
  return typeof node.value === "string" ? node.value : null;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
