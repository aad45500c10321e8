import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";
import { type PageToolParts, pageInput, partBytesMax, readPage } from "./read-page.ts";
import { riskOfUrl } from "./url-risk.ts";

const wants = { markdown: "page", text: "text", raw: "source" } as const;

/** Fetches one page. */
export function createWebFetchTool(parts: PageToolParts): Tool {
  return defineTool({
    name: "web_fetch",
    description:
      "Fetches a web page or file by its URL and shows the whole of it: HTML as Markdown, JSON and text as they are. " +
      "Long ones come in parts: ask for the next one with from. For the article alone use webReader. No scripts are run.",
    input: z.strictObject({
      ...pageInput,
      format: z
        .enum(["markdown", "text", "raw"])
        .default("markdown")
        .describe("Of HTML: Markdown, its words alone, or its source"),
    }),
    risk: "low",
    riskOf: ({ url }) => riskOfUrl(url),
    effect: "read",
    groups: ["web"],
    outputBytesMax: partBytesMax,
    run: ({ url, format, from, length }, scope) =>
      readPage({ url, from, length, want: wants[format], images: true }, parts, scope),
  });
}
