import { hash } from "node:crypto";
import type { Blobs, FeedItem } from "@troupe/core";
import { blobsOf } from "./blob-references.ts";

/** Version of the export format. */
export const exportVersion = 1;
export const exportFormat = "troupe-session";

export interface ExportedSession {
  session: string;
  /** All items of the session, in the order of the feed. */
  feed: readonly FeedItem[];
  blobs: Pick<Blobs, "get">;
  /** The exporting version of troupe. */
  troupe: string;
}

/** Length of `,"chain":"<64 hex>"}`, the end of every line. */
const sealLength = 76;

/**
 * The lines of an export: a header, one line per item and blob, and an end. Each line ends with a hash of itself and of all
 * lines before it, so that a missing, changed or added line shows.
 *
 * @example
 * for await (const line of exportLines({ session, feed, blobs, troupe: "0.1.0" })) console.log(line);
 */
export async function* exportLines({ session, feed, blobs, troupe }: ExportedSession): AsyncGenerator<string> {
  let chain = "";
  const sealed = (body: object): string => {
    const open = asciiControls(JSON.stringify(body));
    chain = chainOf(chain, open);
    return `${open.slice(0, -1)},"chain":"${chain}"}`;
  };
  yield sealed({ kind: "header", format: exportFormat, version: exportVersion, session, troupe });
  for (const item of feed) {
    const { text } = item;
    if (item.kind === "inbox") yield sealed({ kind: "inbox", seq: item.seq, text });
    else yield sealed({ kind: "entry", run: item.run, index: item.index, text });
  }
  let count = 0;
  for await (const [hash, bytes] of blobsOf(feed, blobs)) {
    count += 1;
    yield sealed({ kind: "blob", hash, base64: Buffer.from(bytes).toString("base64") });
  }
  yield sealed({ kind: "end", items: feed.length, blobs: count });
}

/** The hash of a line and of everything before it. */
export function chainOf(before: string, open: string): string {
  return hash("sha256", `${before}\n${open}`);
}

/** Splits a line into its content and its hash; null if it does not end with a hash. */
export function unseal(line: string): { open: string; chain: string } | null {
  const seal = /,"chain":"([0-9a-f]{64})"\}$/.exec(line.slice(-sealLength));
  return seal?.[1] ? { open: `${line.slice(0, -sealLength)}}`, chain: seal[1] } : null;
}

/** JSON leaves C1 controls and DEL as they are, and a terminal would act on them. */
function asciiControls(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
