import type { parseHTML } from "linkedom";

type Document = ReturnType<typeof parseHTML>["document"];
type Element = NonNullable<ReturnType<Document["querySelector"]>>;

/**
 * Makes every link and image of a page absolute, and takes out those that lead to no web page: what would run something
 * (`javascript:`), or carry its content in itself (`data:`). A `<base>` counts, where it is a web address, as in browsers.
 */
export function settleLinks(document: Document, pageUrl: string): void {
  const base = baseOf(document, pageUrl);
  for (const element of document.querySelectorAll("base, [href], [src], [srcset]")) {
    if (element.localName === "base") {
      element.remove();
      continue;
    }
    // Sets of images are what Defuddle would choose from: the one of `src` is enough.
    element.removeAttribute("srcset");
    for (const name of ["href", "src"]) settle(element, name, base);
  }
}

function baseOf(document: Document, pageUrl: string): string {
  const said = document.querySelector("base[href]")?.getAttribute("href");
  const base = said ? URL.parse(said.trim(), pageUrl) : null;
  return base && isWeb(base) ? base.href : pageUrl;
}

function settle(element: Element, name: string, base: string): void {
  const said = element.getAttribute(name);
  if (said === null) return;
  const url = URL.parse(said.trim(), base);
  const isKept = url && (isWeb(url) || (name === "href" && url.protocol === "mailto:"));
  if (!isKept) element.removeAttribute(name);
  else if (!said.trim().startsWith("#")) element.setAttribute(name, url.href);
}

function isWeb({ protocol }: URL): boolean {
  return protocol === "http:" || protocol === "https:";
}
