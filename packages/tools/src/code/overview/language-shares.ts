import { extensionOf, languageOf } from "../languages/languages.ts";

const shownMax = 6;

/** What is not parsed, and what it is called. */
const titles: Readonly<Record<string, string>> = {
  md: "Markdown",
  mdx: "Markdown",
  json: "JSON",
  yaml: "YAML",
  yml: "YAML",
  toml: "TOML",
  css: "CSS",
  scss: "CSS",
  html: "HTML",
  sh: "shell",
  bash: "shell",
  c: "C",
  h: "C",
  cc: "C++",
  cpp: "C++",
  hpp: "C++",
  cs: "C#",
  rb: "Ruby",
  php: "PHP",
  swift: "Swift",
  kt: "Kotlin",
  scala: "Scala",
  sql: "SQL",
  vue: "Vue",
  svelte: "Svelte",
  ipynb: "notebooks",
};

/** The languages of files by their number, most first. */
export function languageShares(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const extension = extensionOf(path);
    const title = languageOf(path)?.title ?? titles[extension] ?? (extension === "" ? "no extension" : `.${extension}`);
    counts.set(title, (counts.get(title) ?? 0) + 1);
  }
  const ordered = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const shown = ordered
    .slice(0, shownMax)
    .map(([title, count]) => `${title} ${count} (${percent(count, paths.length)})`);
  const more = ordered.length > shownMax ? [`${ordered.length - shownMax} other kinds`] : [];
  return `By number of files: ${[...shown, ...more].join(", ")}.`;
}

function percent(part: number, whole: number): string {
  const share = Math.round((part / whole) * 100);
  return share === 0 ? "< 1 %" : `${share} %`;
}
