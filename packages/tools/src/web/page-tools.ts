import { createRedactor, type Risk } from "@troupe/core";
import { defineTool, type Outward, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { type PageToolDeps, readPage } from "./read-page.ts";

const partLengthMax = 60_000;
/** A character has at most four bytes. The rest is for the lines above the text. */
const outputBytesMax = 4 * partLengthMax + 8_192;

const pageInput = {
  url: z.string().min(1).max(8_000),
  from: z.int().min(0).default(0),
  length: z.int().min(1).max(partLengthMax).default(20_000),
};

const modes = { markdown: "page", text: "text", raw: "source" } as const;

/** Creates the tool that fetches one page. */
export function createWebFetchTool(deps: PageToolDeps): Tool {
  return defineTool({
    name: "web_fetch",
    description:
      "Fetches a web page or file: HTML as Markdown, JSON and text unchanged. A long page comes in parts: continue " +
      "with from. Scripts do not run.",
    input: z.strictObject({
      ...pageInput,
      format: z.enum(["markdown", "text", "raw"]).default("markdown").describe("For HTML; raw is the source"),
    }),
    risk: "low",
    riskOf: ({ url }) => riskOfUrl(url),
    outwardOf: ({ url }) => outwardOfUrl(url),
    effect: "read",
    groups: ["web"],
    outputBytesMax,
    run: ({ url, format, from, length }, context) =>
      readPage({ url, from, length, mode: modes[format], images: true }, deps, context),
  });
}

/** Creates the tool that reads the article of a page. */
export function createWebReaderTool(deps: PageToolDeps): Tool {
  return defineTool({
    name: "webReader",
    description:
      "Reads only the article of a web page, as Markdown with title, author and date. A long one comes in parts: " +
      "continue with from.",
    input: z.strictObject({
      ...pageInput,
      retain_images: z.boolean().default(false),
    }),
    risk: "low",
    riskOf: ({ url }) => riskOfUrl(url),
    outwardOf: ({ url }) => outwardOfUrl(url),
    effect: "read",
    groups: ["web"],
    outputBytesMax,
    run: ({ url, retain_images, from, length }, context) =>
      readPage({ url, from, length, mode: "article", images: retain_images }, deps, context),
  });
}

/** A longer path and query can carry data that an agent has read. Few pages need more. */
const pathLengthMax = 200;
const labelLengthMax = 40;
const redactor = createRedactor({});

/** A request sends its path and query, and all but the last two labels of the host: a name server sees those. */
export function outwardOfUrl(text: string): Outward | null {
  const url = URL.parse(text.trim());
  if (!url) return null;
  const { hostname } = url;
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  const labels = isAddress ? "" : hostname.split(".").slice(0, -2).join(".");
  const own = `${url.username}${url.password}${url.pathname.slice(1)}${url.search.slice(1)}`;
  return { host: hostname, characters: own.length + labels.replace(/^www$/, "").length };
}

/**
 * The risk of a request is low. It is medium if the URL could send data out: a long path, query or host label, or text
 * that looks like a key. A policy can require approval for medium risk.
 */
export function riskOfUrl(text: string): Risk {
  const url = URL.parse(text.trim());
  if (!url) return "low";
  const isLong = `${url.pathname}${url.search}`.length > pathLengthMax;
  const hasLongLabel = url.hostname.split(".").some((label) => label.length > labelLengthMax);
  return isLong || hasLongLabel || redactor.text(url.href) !== url.href ? "medium" : "low";
}
