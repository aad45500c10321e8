/** The form of a report: each part that is missing is named, and a run without articles owes no report. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { notStartedResponse, permanentError } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rootRequest } from "../host/host-deps.test-helper.ts";
import { formProblems } from "./report-form.ts";
import { builtinVerifiers, verifyAll } from "./verifier.ts";

const parts = {
  styles: "<style>body { font-family: serif }</style>",
  summary: '<section id="executive-summary"><h2>Zusammenfassung</h2><p>The river rose by 2.4 metres.</p></section>',
  themes: '<section id="causes"><h2>Causes</h2></section><section id="damage"><h2>Damage</h2></section>',
  quote: "<p>“The bridge was gone in the morning”, says the mayor.</p>",
  date: "<p>It was the flood of May 2024.</p>",
  contradictions: '<section id="contradictions"><p>None.</p></section>',
  sources: '<section id="sources"><a href="https://a.example/1">A</a> <a href="https://b.example/2">B</a></section>',
};

function report(changes: Partial<typeof parts> = {}): string {
  const { styles, ...body } = { ...parts, ...changes };
  return `<!doctype html><html><head><title>Flood</title>${styles}</head><body><h1>Flood</h1>${Object.values(body).join("")}</body></html>`;
}

describe("the form of a report", () => {
  test("holds", () => {
    expect(formProblems(report())).toEqual([]);
  });

  test.each([
    [{ styles: "" }, "has no styles"],
    [{ quote: `${parts.quote}<img src="https://x.example/a.png">` }, "loads something from elsewhere"],
    [{ summary: "<p>It rose by 2.4 metres.</p>" }, 'does not begin with <section id="executive-summary">'],
    [{ summary: `<p>${"First of all. ".repeat(40)}</p>${parts.summary}` }, "does not begin with"],
    [{ themes: '<section id="causes"></section>' }, "has fewer than two themes"],
    [{ contradictions: "" }, 'has no <section id="contradictions">'],
    [{ sources: "" }, 'has no <section id="sources">'],
    [{ date: "" }, "has no date"],
    [{ summary: parts.summary.replace("2.4", "some") }, "has no number"],
    [{ quote: '<p class="a long attribute">They said so.</p>' }, "has no quote"],
  ])("%j is named", (changes, problem) => {
    expect(formProblems(report(changes))).toEqual([expect.stringContaining(problem)]);
  });
});

describe("report-form", () => {
  let workspace: string;
  beforeEach(async () => {
    workspace = await mkdtemp(join(tmpdir(), "troupe-report-"));
    await mkdir(join(workspace, "work_products"));
  });
  afterEach(() => rm(workspace, { recursive: true, force: true }));

  const article = (url: string, status = "success") => ({ url, status });
  async function check(files: { html?: string; articles: object[] }, details: string): Promise<string[]> {
    await writeFile(join(workspace, "expanded_corpus.json"), JSON.stringify({ articles: files.articles }));
    const path = "work_products/flood.html";
    if (files.html !== undefined) await writeFile(join(workspace, path), files.html);
    const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });
    const empty = notStartedResponse(request, "completed", permanentError("params", "x"));
    const response = { ...empty, details, filesCreated: files.html === undefined ? [] : [path] };
    const subject = { response, task: "", answer: "", key: "verify/1", workspace };
    return await verifyAll(builtinVerifiers, [{ name: "report-form", params: {} }], subject);
  }

  const articles = [article("https://a.example/1"), article("https://b.example/2"), article("https://c.example/3")];

  test("holds for a saved report whose answer has it too", async () => {
    expect(await check({ html: report(), articles }, report())).toEqual([]);
  });

  test.each([
    ["an answer without the HTML", { html: report(), articles }, "done", /the answer does not have the HTML/],
    ["no file", { articles }, report(), /no HTML file of this run in work_products\//],
    ["a file without form", { html: "<html>", articles }, report(), /work_products\/flood\.html has no styles/],
    [
      "too few sources",
      { html: report({ sources: '<section id="sources">https://a.example/1</section>' }), articles },
      report(),
      /cites 1 articles of the corpus, and at least 2 are needed/,
    ],
  ])("names %s", async (_, files, details, problem) => {
    expect((await check(files, details)).join("\n")).toMatch(problem);
  });

  test("asks for no report if no article could be read", async () => {
    expect(await check({ articles: [article("https://a.example/1", "failed: 1214")] }, "no page was there")).toEqual(
      [],
    );
  });
});
