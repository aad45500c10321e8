import { type Entry, type Journal, RunFailure, type ToolContext } from "@troupe/core";
import { canonicalToolName, openEntry } from "@troupe/core/internal";

export const crawlToolName = "crawl_parallel";
export const saveCorpusName = "save_corpus";
export const readCorpusName = "read_corpus";

/** The file of the corpus within the session's folder. */
export const corpusName = "expanded_corpus.json";

/** How far a run is on the way from its crawl to its report. */
export type CorpusProgress = "not_crawled" | "crawled" | "saved" | "read_back";

/**
 * Tells how far a run is. Only the newest crawl counts: after it, the corpus has to be saved again. A corpus that was
 * changed since it was saved does not count as read back by `read`, because that does not check whether it is whole.
 */
export function corpusProgress(entries: readonly Entry[]): CorpusProgress {
  let progress: CorpusProgress = "not_crawled";
  let saved: readonly { path: string; version: string | null }[] = [];
  for (const entry of entries) {
    if (entry.kind !== "tool.finished" || entry.outcome.error !== null) continue;
    const { seen } = entry.outcome;
    switch (canonicalToolName(entry.tool)) {
      case crawlToolName:
        progress = "crawled";
        break;
      case saveCorpusName:
        if (progress !== "not_crawled") progress = "saved";
        saved = seen;
        break;
      case readCorpusName:
        if (progress === "saved") progress = "read_back";
        break;
      case "read":
        if (progress === "saved" && seen.some((file) => saved.some((one) => isSameFile(one, file)))) {
          progress = "read_back";
        }
        break;
    }
  }
  return progress;
}

type SeenFile = { path: string; version: string | null };

function isSameFile(a: SeenFile, b: SeenFile): boolean {
  return a.path === b.path && a.version === b.version;
}

const nextSteps: Readonly<Record<"crawled" | "saved", string>> = {
  crawled: `this run has crawled pages, but has not saved them: call ${saveCorpusName}, then ${readCorpusName}, and then write the file again`,
  saved: `this run has saved the corpus, but has not read it back: call ${readCorpusName}, and then write the file again`,
};

/**
 * Refuses to write a report before the corpus is saved and read back. It holds for agents whose definition declares it;
 * their calls have `corpusFirst` with the folders of reports.
 *
 * @param paths of the written files, relative to the workspace and free of links
 */
export async function checkCorpusOrder(
  paths: readonly string[],
  { session, run, corpusFirst = [] }: Pick<ToolContext, "session" | "run" | "corpusFirst">,
  journal: Pick<Journal, "readRun"> | null,
): Promise<void> {
  const path = paths.find((each) => corpusFirst.some((folder) => `/${each}`.includes(`/${folder}/`)));
  if (path === undefined || journal === null) return;
  const texts = (await journal.readRun(session, run)).filter((text) => text.includes('"tool.finished"'));
  const progress = corpusProgress(texts.map(openEntry));
  if (progress === "not_crawled" || progress === "read_back") return;
  throw new RunFailure({
    type: "permission",
    message: `${path} was not written: ${nextSteps[progress]}`,
    recoverable: true,
  });
}
