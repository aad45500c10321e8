import { z } from "zod";
import { citationsIn, comparableUrl } from "./citations-resolve.ts";
import type { BuiltinVerifier } from "./verifier.ts";
import { readWorkspaceText } from "./workspace-file.ts";

const Corpus = z.object({ articles: z.array(z.object({ url: z.string(), status: z.string() })) });

/**
 * Checks the form of a report: a styled HTML file whose executive summary comes first, with themes, numbers, dates, quotes,
 * contradictions and cited sources, and an answer that has the HTML too. Without a readable article there is no report to
 * check.
 */
export const reportForm: BuiltinVerifier<"report-form"> = async ({ response, workspace, params }) => {
  const { folder, corpus, sources } = params;
  const readable = await readableIn(workspace, corpus);
  const hasAnswer = /<html[\s>]/i.test(response.details);
  if (readable.length === 0 && !hasAnswer) return [];
  const path = [...response.filesCreated, ...response.filesModified].findLast(
    (file) => file.startsWith(`${folder.replace(/\/+$/, "")}/`) && /\.html?$/i.test(file),
  );
  if (path === undefined) return [`there is no HTML file of this run in ${folder}/`];
  const html = await readWorkspaceText(workspace, path);
  const cited = new Set(citationsIn(html).urls.map(comparableUrl));
  const count = readable.filter((url) => cited.has(comparableUrl(url))).length;
  const needed = Math.min(sources, readable.length);
  return [
    ...(hasAnswer ? [] : ["the answer does not have the HTML of the report"]),
    ...formProblems(html).map((problem) => `${path} ${problem}`),
    ...(count < needed ? [`${path} cites ${count} articles of the corpus, and at least ${needed} are needed`] : []),
  ];
};

/** Addresses of the articles that were read. */
async function readableIn(workspace: string, corpus: string): Promise<string[]> {
  const { articles } = Corpus.parse(JSON.parse(await readWorkspaceText(workspace, corpus)));
  return articles.filter(({ status }) => status === "success").map(({ url }) => url);
}

/** Before its first section, a report has at most a title and a line below it. */
const titleLengthMax = 300;

const year = /\b(?:1[5-9]|20)\d\d\b/g;
const quotes = [/<(?:q|blockquote)[\s>]/i, /[“„«][^”“»]{8,}[”“»]/, /"[^"]{8,}"/];

/**
 * What the HTML of a report lacks. It reads the ids of its sections, so it depends on no language.
 *
 * @example
 * formProblems("<html><body>Tides</body></html>"); // ["has no styles", …]
 */
export function formProblems(html: string): string[] {
  const body = html.replace(/<!--[\s\S]*?-->/g, "").replace(/^[\s\S]*<body[^>]*>/i, "");
  const text = textOf(body);
  const sections = [...body.matchAll(/<section\b[^>]*\sid\s*=\s*["']?([\w-]+)/gi)].map(([, id]) => id);
  const title = textOf(body.replace(/<section[\s>][\s\S]*$/i, ""));
  const themes = sections.filter((id) => id !== undefined && !Object.hasOwn(fixedSections, id));
  const rules: readonly [holds: boolean, problem: string][] = [
    [/<style[\s>]|\sstyle\s*=/i.test(html), "has no styles"],
    [!/<(?:script|link|iframe)[\s>]|\ssrc\s*=\s*["']?(?:https?:)?\/\//i.test(html), "loads something from elsewhere"],
    [
      sections[0] === "executive-summary" && title.length <= titleLengthMax,
      'does not begin with <section id="executive-summary">',
    ],
    [new Set(themes).size >= 2, "has fewer than two themes, each in a <section> with an id"],
    [sections.includes("contradictions"), 'has no <section id="contradictions">'],
    [sections.includes("sources"), 'has no <section id="sources">'],
    [text.match(year) !== null, "has no date"],
    [/\d/.test(text.replace(year, "")), "has no number"],
    [quotes.some((quote) => quote.test(quote === quotes[0] ? body : text)), "has no quote"],
  ];
  return rules.flatMap(([holds, problem]) => (holds ? [] : [problem]));
}

const fixedSections = { "executive-summary": true, contradictions: true, sources: true } as const;

function textOf(html: string): string {
  const visible = html.replace(/<(style|script)[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
  return visible.replaceAll("&quot;", '"').replace(/\s+/g, " ").trim();
}
