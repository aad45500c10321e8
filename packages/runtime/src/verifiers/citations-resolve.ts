import { z } from "zod";
import type { BuiltinVerifier } from "./verifier.ts";
import { existsInWorkspace, readWorkspaceText } from "./workspace-file.ts";

const CitedCorpus = z.object({ articles: z.array(z.object({ url: z.string() })) });

const problemsMax = 20;

/**
 * Checks that every address in an answer or a file is an article of the corpus, and that every cited path exists. Links to
 * a place in the same text and names of XML namespaces do not count.
 */
export const citationsResolve: BuiltinVerifier<"citations-resolve"> = async ({
  response,
  workspace,
  params: { path, corpus, minimum },
}) => {
  const text = path === undefined ? response.details : await readWorkspaceText(workspace, path);
  const source = path ?? "the answer";
  const parsed = CitedCorpus.safeParse(JSON.parse(await readWorkspaceText(workspace, corpus)));
  if (!parsed.success) return [`${corpus} is not a corpus: it has no list of articles with a url`];
  const known = new Set(parsed.data.articles.map(({ url }) => comparableUrl(url)));
  const { urls, paths } = citationsIn(text);
  const unknown = urls.filter((url) => !known.has(comparableUrl(url)));
  const exist = await Promise.all(paths.map((cited) => existsInWorkspace(workspace, cited)));
  const problems = [
    ...unknown.map((url) => `${source} cites ${url}, which is not in ${corpus}`),
    ...paths.filter((_, i) => !exist[i]).map((cited) => `${source} cites ${cited}, which does not exist`),
  ];
  const count = urls.length + paths.length;
  if (count < minimum) problems.push(`${source} has ${count} citations, and at least ${minimum} are needed`);
  return problems.slice(0, problemsMax);
};

/** Addresses that documents have without citing anything. */
const namespaces = /^https?:\/\/(?:www\.)?(?:w3\.org|schema\.org|purl\.org)\b/i;

/**
 * The addresses and paths that a text cites: addresses anywhere in it, and the relative targets of links.
 *
 * @example
 * citationsIn("See [1](https://example.org/a) and [notes](notes/a.md)."); // one URL and one path
 */
export function citationsIn(text: string): { urls: string[]; paths: string[] } {
  const urls = [...text.matchAll(/https?:\/\/[^\s<>"'`\\\]]+/gi)]
    .map(([url]) => withoutEnd(url.replaceAll("&amp;", "&")))
    .filter((url) => !namespaces.test(url));
  const targets = [...text.matchAll(/\]\(([^)\s]+)[^)]*\)|\bhref\s*=\s*["']([^"']+)["']/gi)].map(
    ([, markdown, html]) => markdown ?? html ?? "",
  );
  const paths = targets.filter((target) => target !== "" && !/^(?:[a-z][a-z0-9+.-]*:|#|\/\/)/i.test(target));
  return { urls: [...new Set(urls)], paths: [...new Set(paths.map((target) => target.replace(/[?#].*$/, "")))] };
}

/** Removes punctuation of the sentence, and a bracket that the address did not open. */
function withoutEnd(url: string): string {
  const end = url.replace(/[.,;:!?*_]+$/, "");
  if (!end.endsWith(")") || end.split("(").length >= end.split(")").length) return end;
  return withoutEnd(end.slice(0, -1));
}

/** Addresses of one page can differ in case of the host, the fragment and the last slash. */
export function comparableUrl(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return url;
  parsed.hash = "";
  return parsed.href.replace(/^http:/, "https:").replace(/\/$/, "");
}
