import { RunFailure, type ToolContext } from "@troupe/core";
import { z } from "zod";
import type { FileBytes } from "../workspace/file-version.ts";
import { readWorkspaceFile } from "../workspace/resolve-path.ts";

/** Limit of the file: it is in memory as a whole. */
export const corpusBytesMax = 32 * 1024 * 1024;

export const Article = z.object({
  url: z.string().min(1).max(8_000),
  title: z.string().max(2_000),
  content: z.string(),
  /** `success`, or why there is no content. */
  status: z.string().min(1).max(500),
});
export type Article = z.infer<typeof Article>;

/** The articles of a report, as agents read them. */
export const Corpus = z.object({
  extraction_timestamp: z.string(),
  total_articles: z.int().nonnegative(),
  successful: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  articles: z.array(Article),
});
export type Corpus = z.infer<typeof Corpus>;

/** Whether an article was extracted. Models write the status in several ways. */
export function isSuccessful({ status }: Pick<Article, "status">): boolean {
  return /^(?:success(?:ful)?|succeeded|ok|200|completed)$/i.test(status.trim());
}

/**
 * Makes the corpus of these articles.
 *
 * @example
 * corpusOf([{ url: "https://example.org/", title: "A", content: "…", status: "success" }], Date.now()).successful; // 1
 */
export function corpusOf(articles: readonly Article[], nowMs: number): Corpus {
  const successful = articles.filter(isSuccessful).length;
  return {
    extraction_timestamp: new Date(nowMs).toISOString(),
    total_articles: articles.length,
    successful,
    failed: articles.length - successful,
    articles: [...articles],
  };
}

/** Parses a corpus. Returns the problem as text if it is not a whole corpus. */
export function parseCorpus(bytes: Buffer): Corpus | string {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return `it is not JSON (${bytes.byteLength} bytes); it may have been cut off`;
  }
  const { data, error } = Corpus.safeParse(value);
  if (!data) return `${error?.issues[0]?.path.join(".") || "its top"}: ${error?.issues[0]?.message}`;
  const { articles, total_articles, successful, failed } = data;
  if (articles.length === total_articles && successful + failed === total_articles) return data;
  return `it names ${total_articles} articles (${successful} successful, ${failed} failed) and has ${articles.length}`;
}

/** Reads the corpus of a folder. Throws a `RunFailure` if there is none, or if it is damaged. */
export async function readCorpus(
  path: string,
  { workspace }: Pick<ToolContext, "workspace">,
): Promise<FileBytes & { corpus: Corpus; real: string }> {
  const file = await readWorkspaceFile(workspace, path, { bytesMax: corpusBytesMax });
  const corpus = parseCorpus(file.bytes);
  if (typeof corpus !== "string") return { ...file, corpus };
  throw new RunFailure({
    type: "tool_error",
    message: `${file.real} is damaged: ${corpus}. Call save_corpus again`,
    recoverable: true,
  });
}

/** The path of a file in the session's folder, which is the workspace or a folder in it. */
export function inSessionFolder(folder: string | undefined, name: string): string {
  return folder === undefined || folder === "." ? name : `${folder.replace(/\/+$/, "")}/${name}`;
}
