/** A query that asks for some sites alone, in the words that search engines agree on. */
export function queryWithSites(query: string, domains: readonly string[]): string {
  const sites = domains.map((domain) => `site:${domain}`);
  if (sites.length === 0) return query;
  return `${query} ${sites.length === 1 ? sites[0] : `(${sites.join(" OR ")})`}`;
}

/** Whether a URL's host is one of some domains, or in one. */
export function isOfDomains(url: string, domains: readonly string[]): boolean {
  const host = URL.parse(url)?.hostname.replace(/\.$/, "");
  return host !== undefined && domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}
