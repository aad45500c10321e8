/** What a page is turned into, away from the main thread. */
export interface PageJob {
  bytes: Uint8Array;
  /** As the server says. */
  charset: string | null;
  /** Where it came from: what its links are relative to. */
  url: string;
  /** `article`: what the page is about; `page`: all that is to be seen of it; `text`: the same without any form. */
  want: "article" | "page" | "text";
  images: boolean;
}

export interface PageContent {
  title: string | null;
  author: string | null;
  /** As the page says it. */
  published: string | null;
  site: string | null;
  language: string | null;
  /** Markdown, or plain text where `form` says so. */
  content: string;
  form: "markdown" | "text";
  words: number;
  charset: string;
  /** What did not go as it was wanted, in words for who reads the content; null where all went well. */
  note: string | null;
}
