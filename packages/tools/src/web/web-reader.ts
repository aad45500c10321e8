import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";
import { type PageToolParts, pageInput, partBytesMax, readPage } from "./read-page.ts";
import { riskOfUrl } from "./url-risk.ts";

/** Reads the article of a page. */
export function createWebReaderTool(parts: PageToolParts): Tool {
  return defineTool({
    name: "webReader",
    description:
      "Reads the main article of a web page as Markdown, without menus, adverts and comments, with its title, author " +
      "and date. Long ones come in parts: ask for the next one with from. For all of a page use web_fetch.",
    input: z.strictObject({
      ...pageInput,
      retain_images: z.boolean().default(false).describe("Whether to keep links to the article's images"),
    }),
    risk: "low",
    riskOf: ({ url }) => riskOfUrl(url),
    effect: "read",
    groups: ["web"],
    outputBytesMax: partBytesMax,
    run: ({ url, retain_images, from, length }, scope) =>
      readPage({ url, from, length, want: "article", images: retain_images }, parts, scope),
  });
}
