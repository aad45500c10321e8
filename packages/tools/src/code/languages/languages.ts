/** A language that is understood: the grammar that reads its files, and what it is called. */
export interface Language {
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

/** The language of a file that is understood; null for any other. */
export function languageOf(path: string): Language | null {
  return byExtension.get(extensionOf(path)) ?? null;
}

export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}
