import { z } from "zod";
import type { BuiltinObserver, ObserverScope } from "./observer.ts";
import { recordPath, writeOnce } from "./write-once.ts";

const readerTools: ReadonlySet<string> = new Set(["webReader", "web_fetch"]);

const Article = z.looseObject({ url: z.string() });
const Corpus = z.looseObject({
  total_articles: z.int(),
  successful: z.int(),
  failed: z.int(),
  articles: z.array(Article),
});

/** Other runs may change the corpus at the same time. */
const triesMax = 10;

/**
 * Adds each page that the run reads to the saved corpus. It never creates a corpus: saving it is the duty of the agent, and
 * a check looks for it. Until then, the page is a file beside the crawled pages.
 */
export const enrichCorpus: BuiltinObserver<"enrich-corpus"> = async (call, scope) => {
  const { tool, args, outcome, at, key } = call;
  const url = typeof args === "object" && args !== null && !Array.isArray(args) ? args.url : null;
  if (!readerTools.has(tool) || outcome.error !== null || typeof url !== "string") return;
  const { folder, corpus } = scope.params;
  const article = { url, title: titleOf(outcome.output) ?? url, content: outcome.output, status: "success" };
  await writeOnce(recordPath(folder, call), { tool, call: key, at: new Date(at).toISOString(), ...article }, scope);
  await addArticle(corpus, article, scope);
};

async function addArticle(path: string, article: z.infer<typeof Article>, scope: ObserverScope): Promise<void> {
  const { files, workspace } = scope;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const before = await files.read(workspace, path);
    const corpus = before === null ? null : parse(before);
    if (before === null || corpus === null || corpus.articles.some(({ url }) => url === article.url)) return;
    const articles = [...corpus.articles, article];
    const after = { ...corpus, total_articles: articles.length, successful: corpus.successful + 1, articles };
    if (await files.replace(workspace, path, `${JSON.stringify(after, null, 2)}\n`, before)) return;
  }
  throw new Error(`${path} changed ${triesMax} times while a page was added to it`);
}

/** Null for a corpus that is damaged: the agent has to save it again. */
function parse(text: string): z.infer<typeof Corpus> | null {
  try {
    return Corpus.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function titleOf(output: string): string | null {
  return /^title: (.+)$/m.exec(output)?.[1] ?? null;
}
