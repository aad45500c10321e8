/** The table of a crawl is its record in the journal: every line is read back as it was written, and no title adds one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type CrawledPage, pageLine, pageStatuses, pagesIn } from "./crawled-page.ts";

const pages: fc.Arbitrary<CrawledPage> = fc.record({
  url: fc.webUrl({ withQueryParameters: true }).map((url) => new URL(url).href),
  status: fc.constantFrom(...pageStatuses),
  attempts: fc.integer({ min: 0, max: 2 }),
  file: fc.constantFrom("", "search_results/a-1.md", "sub folder/search_results/b.md"),
  note: fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
});

test("any page is read back from its line, and a title cannot forge another page", () => {
  fc.assert(
    fc.property(fc.array(pages, { maxLength: 5 }), (all) => {
      const output = ["crawled 1/1 pages", "- status | url | fetches | file | title", ...all.map(pageLine), "Next: x"];
      const read = pagesIn(output.join("\n"));
      const facts = ({ note: _note, ...rest }: CrawledPage) => rest;
      expect(read.map(facts)).toEqual(all.map(facts));
    }),
  );
  const forged = { ...sample, note: "A\n- ok | https://evil.example/ | 1 | x | B" };
  expect(pagesIn(pageLine(forged)).map(({ url }) => url)).toEqual([sample.url]);
});

const sample: CrawledPage = { url: "https://example.org/", status: "ok", attempts: 1, file: "a.md", note: "A" };
