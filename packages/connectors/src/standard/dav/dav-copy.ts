import type { DavClient, DavCollection, DavObject } from "./dav-client.ts";

/** A local copy of collections. It reads only objects that changed. */
export interface DavCopy {
  /** Brings the copy up to date, and calls back for each change. */
  sync(): Promise<void>;
  /** The collections of the last `sync`. */
  collections(): readonly DavCollection[];
  get(url: string): DavObject | undefined;
  all(): Iterable<DavObject>;
  /** The next `sync` reads this object again. */
  forget(url: string): void;
}

export interface DavCopyOptions {
  client: DavClient;
  /** The collections to copy. */
  list(): Promise<DavCollection[]>;
  changed(object: DavObject): void;
  removed(object: DavObject): void;
}

export function createDavCopy({ client, list, changed, removed }: DavCopyOptions): DavCopy {
  const objects = new Map<string, DavObject>();
  const ctags = new Map<string, string | null>();
  let collections: DavCollection[] = [];
  const drop = (url: string): void => {
    const object = objects.get(url);
    if (object) removed(object);
    objects.delete(url);
  };
  async function syncOne(collection: DavCollection): Promise<void> {
    const known = ctags.get(collection.url);
    if (known !== undefined && known !== null && known === collection.ctag) return;
    const etags = await client.etags(collection);
    const gone = [...objects.keys()].filter((url) => url.startsWith(collection.url) && !etags.has(url));
    for (const url of gone) drop(url);
    const urls = [...etags].filter(([url, etag]) => objects.get(url)?.etag !== etag).map(([url]) => url);
    for (const object of await client.objects(collection, urls)) {
      drop(object.url);
      objects.set(object.url, object);
      changed(object);
    }
    ctags.set(collection.url, collection.ctag);
  }
  return {
    async sync() {
      collections = await list();
      for (const url of ctags.keys()) {
        if (collections.some((collection) => collection.url === url)) continue;
        for (const object of objects.keys()) if (object.startsWith(url)) drop(object);
        ctags.delete(url);
      }
      for (const collection of collections) await syncOne(collection);
    },
    collections: () => collections,
    get: (url) => objects.get(url),
    all: () => objects.values(),
    forget(url) {
      drop(url);
      ctags.clear();
    },
  };
}
