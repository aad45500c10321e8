/** A language that the parser supports. */
export interface Language {
  /** Also the name of the grammar file. */
  id: string;
  title: string;
  extensions: readonly string[];
}

export const languages: readonly Language[] = [
  { id: "typescript", title: "TypeScript", extensions: ["ts", "mts", "cts"] },
  { id: "tsx", title: "TSX", extensions: ["tsx"] },
  { id: "javascript", title: "JavaScript", extensions: ["js", "jsx", "mjs", "cjs"] },
  { id: "python", title: "Python", extensions: ["py", "pyi"] },
  { id: "go", title: "Go", extensions: ["go"] },
  { id: "rust", title: "Rust", extensions: ["rs"] },
  { id: "java", title: "Java", extensions: ["java"] },
];

const byExtension = new Map(
  languages.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)),
);

/** The language of a file, by its extension. Null for an unsupported one. */
export function languageOf(path: string): Language | null {
  return byExtension.get(extensionOf(path)) ?? null;
}

export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}
