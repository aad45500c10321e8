import { createRedactor, type Risk } from "@troupe/core";

/** A longer path and query can carry away what an agent has read; few pages need as much. */
const carriedLengthMax = 200;
const shapes = createRedactor({});

/**
 * Asking for a page is of low risk, unless the URL is one that tells its server more than which page is wanted: a long
 * path or query, or something that looks like a key. Whoever does not want that lets the policy ask about medium risk.
 */
export function riskOfUrl(text: string): Risk {
  const url = URL.parse(text.trim());
  if (!url) return "low";
  const carried = `${url.pathname}${url.search}`;
  const labels = url.hostname.split(".").some((label) => label.length > 40);
  return labels || carried.length > carriedLengthMax || shapes.text(url.href) !== url.href ? "medium" : "low";
}
