import { beforeEach, describe, expect, test } from "vitest";
import type { DavClient, DavCollection } from "./dav-client.ts";
import { createDavCopy, type DavCopy } from "./dav-copy.ts";

// A copy that reads too much is slow; one that reads too little shows events and contacts that no longer exist.

const work = "https://dav.acme.example/ana/work/";
const home = "https://dav.acme.example/ana/home/";

/** A server in memory. Each change of a collection gives it another ctag, if the server names any. */
class FakeServer implements Pick<DavClient, "etags" | "objects"> {
  readonly collections = new Map<string, Map<string, { etag: string; data: string }>>();
  /** Requests of the copy, in their order. */
  calls: string[] = [];
  namesTags = true;
  #version = 0;
  #tags = new Map<string, string>();

  put(collection: string, name: string, data: string): void {
    const objects = this.collections.get(collection) ?? new Map();
    this.collections.set(collection, objects);
    this.#version += 1;
    objects.set(collection + name, { etag: `"${this.#version}"`, data });
    this.#tags.set(collection, `tag-${this.#version}`);
  }

  remove(collection: string, name: string): void {
    this.collections.get(collection)?.delete(collection + name);
    this.#version += 1;
    this.#tags.set(collection, `tag-${this.#version}`);
  }

  async list(): Promise<DavCollection[]> {
    return [...this.collections.keys()].map((url) => {
      return { url, name: "", ctag: this.namesTags ? (this.#tags.get(url) ?? null) : null };
    });
  }

  async etags({ url }: DavCollection): Promise<Map<string, string>> {
    this.calls.push(`etags ${url}`);
    return new Map([...(this.collections.get(url) ?? [])].map(([object, { etag }]) => [object, etag]));
  }

  async objects({ url }: DavCollection, urls: readonly string[]) {
    this.calls.push(...urls.map((object) => `object ${object}`));
    return urls.flatMap((object) => {
      const found = this.collections.get(url)?.get(object);
      return found ? [{ url: object, ...found }] : [];
    });
  }
}

let server: FakeServer;
let copy: DavCopy;
let changes: string[];

beforeEach(async () => {
  server = new FakeServer();
  server.put(work, "1.ics", "review");
  server.put(work, "2.ics", "lunch");
  server.put(home, "3.ics", "dentist");
  changes = [];
  copy = createDavCopy({
    client: server as unknown as DavClient,
    list: () => server.list(),
    changed: ({ data }) => void changes.push(`+${data}`),
    removed: ({ data }) => void changes.push(`-${data}`),
  });
  await copy.sync();
});

/** Requests of the next `sync`, and its changes of the copy. */
async function sync(): Promise<{ calls: string[]; changes: string[] }> {
  server.calls = [];
  changes = [];
  await copy.sync();
  return { calls: server.calls, changes };
}

const dataOf = () => [...copy.all()].map(({ data }) => data).toSorted();

describe("a copy", () => {
  test("has all objects of all collections", () => {
    expect(changes).toEqual(["+review", "+lunch", "+dentist"]);
    expect(dataOf()).toEqual(["dentist", "lunch", "review"]);
    expect(copy.get(`${work}1.ics`)?.data).toBe("review");
  });

  test("asks nothing about a collection that has not changed", async () => {
    expect(await sync()).toEqual({ calls: [], changes: [] });
  });

  test("reads only the changed object, in place of its earlier version", async () => {
    server.put(work, "2.ics", "dinner");
    expect(await sync()).toEqual({
      calls: [`etags ${work}`, `object ${work}2.ics`],
      changes: ["-lunch", "+dinner"],
    });
    expect(dataOf()).toEqual(["dentist", "dinner", "review"]);
  });

  test("loses the objects that the server no longer has", async () => {
    server.remove(work, "1.ics");
    expect((await sync()).changes).toEqual(["-review"]);
    expect(dataOf()).toEqual(["dentist", "lunch"]);
  });

  test("loses the objects of a collection that is gone, and reads them again with it", async () => {
    const objects = server.collections.get(home);
    server.collections.delete(home);
    expect((await sync()).changes).toEqual(["-dentist"]);
    server.collections.set(home, objects ?? new Map());
    expect((await sync()).changes).toEqual(["+dentist"]);
  });

  test("compares the versions of all objects if the server names none of the collection", async () => {
    server.namesTags = false;
    await sync();
    server.remove(home, "3.ics");
    expect(await sync()).toEqual({ calls: [`etags ${work}`, `etags ${home}`], changes: ["-dentist"] });
  });

  test("reads an object again after a change of its own, even in a collection with the same tag", async () => {
    copy.forget(`${home}3.ics`);
    expect(copy.get(`${home}3.ics`)).toBeUndefined();
    expect((await sync()).changes).toEqual(["+dentist"]);
  });
});
