import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type BannedName, bannedIn, bannedNames } from "./banned-names.ts";
import { findProse } from "./prose.ts";
import { type DeclaredName, readSourceFile, type SourceFile, type SourceText } from "./source-file.ts";

/** One place that breaks a rule. */
export interface Hit {
  /** Its rule and kind of text, or the key of its count in the ratchet. */
  key: string;
  file: string;
  line: number;
  words: string;
  use: string;
}

export interface WordSurvey {
  hits: Hit[];
  /** Hits on names and types by key, for the ratchet; every key is here, also keys without a hit. */
  counts: Record<string, number>;
  /** Words of prose by kind of text. */
  words: Record<TextKind, number>;
  /** Words of prose by package or top folder. */
  wordsOf: Record<string, number>;
  shape: Shape;
}

/** Figures on how finely the sources are cut. Reported, never a failure. */
export interface Shape {
  files: number;
  medianLines: number;
  shortShare: number;
  singleUseShare: number;
}

/** `comments` and `docs` are the texts that the issue's own measure reads; tests are counted apart. */
export type TextKind = "comments" | "strings" | "docs" | "prompts" | "test comments" | "test strings";

const duplicateExports = "exported types with a second declaration in their package";
const commonTypes = "type names declared in more than two files";
/** Every component names the type of its properties so. */
const conventionalTypes = new Set(["Props"]);

/** These files list the forbidden words. */
const exempt = /^scripts\/(?:words\.test|lib\/(?:banned-names|prose))\.ts$/;

/** Counts over the given files: TypeScript and Markdown, as paths relative to the root. */
export function surveyWords(root: string, files: string[]): WordSurvey {
  const survey: WordSurvey = {
    hits: [],
    counts: Object.fromEntries(allKeys().map((key) => [key, 0])),
    words: { comments: 0, strings: 0, docs: 0, prompts: 0, "test comments": 0, "test strings": 0 },
    wordsOf: {},
    shape: { files: 0, medianLines: 0, shortShare: 0, singleUseShare: 0 },
  };
  const sources = new Map<string, SourceFile & { text: string }>();
  for (const file of files.filter((path) => !exempt.test(path) && existsSync(join(root, path)))) {
    if (!/\.(?:tsx?|md)$/.test(file)) continue;
    const text = readFileSync(join(root, file), "utf8");
    if (file.endsWith(".md")) surveyText(survey, file, text, { offset: 0, text }, docsKind(file));
    else {
      const source = readSourceFile(file, text);
      surveySource(survey, file, text, source);
      if (isSource(file)) sources.set(file, { ...source, text });
    }
  }
  surveyPaths(survey, files);
  surveyTypes(survey, sources);
  survey.shape = shapeOf(sources);
  for (const { key } of survey.hits) {
    const count = survey.counts[key];
    if (count !== undefined) survey.counts[key] = count + 1;
  }
  return survey;
}

function allKeys(): string[] {
  return [...bannedNames.map(nameKey), duplicateExports, commonTypes];
}

function nameKey({ word }: BannedName): string {
  return `name ${word}`;
}

/** Code that ships, as the issue's own measure takes it. */
function isSource(file: string): boolean {
  return /^(?:packages|apps)\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.(?:test|fixture|test-helper)\./.test(file);
}

function docsKind(file: string): TextKind {
  return /^(?:test\/|packages\/roles\/(?:agents|teams))/.test(file) ? "prompts" : "docs";
}

/** The package of a file, or its top folder; `root` for a file beside them. */
export function placeOfFile(file: string): string {
  const [top = "", second = ""] = file.split("/");
  if (top === "packages" || top === "apps") return second;
  return file.includes("/") ? top : "root";
}

function surveySource(survey: WordSurvey, file: string, text: string, source: SourceFile): void {
  const shipped = isSource(file);
  for (const part of source.comments) surveyText(survey, file, text, part, shipped ? "comments" : "test comments");
  for (const part of source.strings) surveyText(survey, file, text, part, shipped ? "strings" : "test strings");
  for (const declared of source.names) surveyName(survey, file, text, declared);
}

function surveyText(survey: WordSurvey, file: string, text: string, part: SourceText, kind: TextKind): void {
  const words = part.text.match(/\w+/g)?.length ?? 0;
  survey.words[kind] += words;
  const place = placeOfFile(file);
  survey.wordsOf[place] = (survey.wordsOf[place] ?? 0) + words;
  for (const { rule, offset, words: found, use } of findProse(part.text)) {
    const line = lineAt(text, part.offset + offset);
    survey.hits.push({ key: `${rule} in ${kind}`, file, line, words: found, use });
  }
}

function surveyName(survey: WordSurvey, file: string, text: string, { name, offset, member }: DeclaredName): void {
  for (const banned of bannedIn(name)) {
    if (banned.filesOnly || (member && !banned.members) || !(banned.under?.test(file) ?? true)) continue;
    survey.hits.push({ key: nameKey(banned), file, line: lineAt(text, offset), words: name, use: banned.use });
  }
}

/** Each file's name, and each folder's once. */
function surveyPaths(survey: WordSurvey, files: string[]): void {
  const paths = new Set(files.filter((file) => /\.(?:tsx?|m?js|css|json|md)$/.test(file) && !/^docs\//.test(file)));
  for (const file of [...paths]) {
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) paths.add(folder);
  }
  for (const path of [...paths].sort()) {
    for (const banned of bannedIn(basename(path))) {
      if (!(banned.under?.test(path) ?? true)) continue;
      survey.hits.push({ key: nameKey(banned), file: path, line: 1, words: basename(path), use: banned.use });
    }
  }
}

function surveyTypes(survey: WordSurvey, sources: Map<string, SourceFile & { text: string }>): void {
  const declared = new Map<string, Map<string, { line: number; exported: boolean }>>();
  for (const [file, { types, text }] of sources) {
    for (const { name, offset, exported } of types) {
      const files = declared.get(name) ?? new Map();
      declared.set(name, files);
      files.set(file, { line: lineAt(text, offset), exported: exported || (files.get(file)?.exported ?? false) });
    }
  }
  for (const [name, files] of declared) {
    const others = (listed: string[]): string => `also in ${listed.slice(1).join(", ")}: one idea, one name`;
    if (files.size > 2 && !conventionalTypes.has(name)) {
      const [file = ""] = files.keys();
      const line = files.get(file)?.line ?? 1;
      survey.hits.push({ key: commonTypes, file, line, words: name, use: others([...files.keys()]) });
    }
    const exporting = [...files.keys()].filter((file) => files.get(file)?.exported);
    for (const listed of Map.groupBy(exporting, placeOfFile).values()) {
      const [file = ""] = listed;
      if (listed.length < 2) continue;
      const line = files.get(file)?.line ?? 1;
      survey.hits.push({ key: duplicateExports, file, line, words: name, use: others(listed) });
    }
  }
}

function shapeOf(sources: Map<string, SourceFile & { text: string }>): Shape {
  const lines = [...sources.values()].map(({ text }) => text.split("\n").length - 1).sort((a, b) => a - b);
  const users = new Map<string, number>();
  for (const [file, { imports }] of sources) {
    for (const target of new Set(imports.map((specifier) => resolve("/", dirname(file), specifier).slice(1)))) {
      users.set(target, (users.get(target) ?? 0) + 1);
    }
  }
  const files = Math.max(sources.size, 1);
  return {
    files: sources.size,
    medianLines: lines[Math.floor(lines.length / 2)] ?? 0,
    shortShare: lines.filter((count) => count <= 60).length / files,
    singleUseShare: [...sources.keys()].filter((file) => users.get(file) === 1).length / files,
  };
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}
