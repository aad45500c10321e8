import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { getMimeType } from "hono/utils/mime";

/** A file of the built dashboard. */
export interface Asset {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
  /** A file with a hash in its name never changes. */
  cacheControl: "public, max-age=31536000, immutable" | "no-cache";
}

export interface Assets {
  /** The file at a URL path, or null. */
  find(path: string): Promise<Asset | null>;
  /** The dashboard's HTML page, which every path of the app starts from. */
  shell(): Promise<Asset>;
}

/**
 * Lists the dashboard's files once and serves only those, by exact name. A request path never becomes a file path, so
 * no request can leave the folder. Symbolic links are not followed.
 */
export async function loadAssets(folder: string): Promise<Assets> {
  const files = new Map(
    (await filesBelow(folder)).map((file) => [`/${file.split(sep).join("/")}`, join(folder, file)]),
  );

  const find = async (path: string): Promise<Asset | null> => {
    const file = files.get(path);
    if (file === undefined) return null;
    const bytes = await readFile(file).catch(() => null);
    if (bytes === null) return null;
    return {
      bytes: new Uint8Array(bytes),
      type: getMimeType(path) ?? "application/octet-stream",
      cacheControl: isHashed(path) ? "public, max-age=31536000, immutable" : "no-cache",
    };
  };
  return { find, shell: async () => (await find("/index.html")) ?? notBuilt };
}

const notBuilt: Asset = {
  bytes: new TextEncoder().encode(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>troupe</title>
<h1>The dashboard is not built</h1><p>The daemon runs. Build the page with <code>pnpm build</code>, then restart it.</p></html>\n`,
  ),
  type: "text/html; charset=utf-8",
  cacheControl: "no-cache",
};

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function isHashed(path: string): boolean {
  return /^\/assets\/.+-[A-Za-z0-9_-]{8,}\.\w+$/.test(path);
}
