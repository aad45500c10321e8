import { loadOnce, loadOptional } from "@troupe/core/internal";
import type { DAVAccount, DAVResponse } from "tsdav";
import { ConnectorError } from "../../ports/connector-error.ts";
import { unreachable } from "../mail/mail-errors.ts";
import { type CheckedAccount, isLoopback } from "../standard-options.ts";

export type DavKind = "caldav" | "carddav";

/** A calendar or an address book. */
export interface DavCollection {
  url: string;
  name: string;
  /** Differs after every change of the collection. Null if the server names none. */
  ctag: string | null;
}

/** An event or a contact as its server stores it. */
export interface DavObject {
  url: string;
  etag: string;
  data: string;
}

/** Calls of WebDAV. Each throws `ConnectorError`. */
export interface DavClient {
  collections(): Promise<DavCollection[]>;
  /** One collection by its URL, which can belong to another person. */
  collection(url: string): Promise<DavCollection>;
  /** The versions of all objects, by URL. */
  etags(collection: DavCollection): Promise<Map<string, string>>;
  objects(collection: DavCollection, urls: readonly string[]): Promise<DavObject[]>;
  /** Stores an object. Null for `etag`: only if the URL is free. Returns false if another program was faster. */
  put(object: { url: string; data: string; etag: string | null }): Promise<boolean>;
  /** Returns false if another program has changed the object. */
  remove(object: { url: string; etag: string }): Promise<boolean>;
}

const contentTypes = { caldav: "text/calendar; charset=utf-8", carddav: "text/vcard; charset=utf-8" } as const;
const collectionTypes = { caldav: "calendar", carddav: "addressbook" } as const;
const chunkSize = 100;
/** More objects would not fit into one program's memory with their text. */
const objectsMax = 50_000;
const [notFound, conflict, preconditionFailed] = [404, 409, 412];

export function createDavClient(account: CheckedAccount, kind: DavKind): DavClient {
  const serverUrl = account[kind];
  if (serverUrl === null) {
    throw new ConnectorError("permission", `the account has no server of ${nameOf(kind)}`, {
      fix: "troupe connect mail",
    });
  }
  const request = createFetch(account);
  const load = () => loadOptional("tsdav@2", () => import("tsdav"));
  const home = loadOnce(() => discover(account, kind, serverUrl, request));
  const propfind = async (url: string, depth: "0" | "1", props: readonly string[]): Promise<DAVResponse[]> => {
    const dav = await load();
    const asked = Object.fromEntries(props.map((name) => [name, {}]));
    const answers = await dav.propfind({ url, depth, props: asked, fetch: request });
    return answers.map((answer) => checkAnswer(answer, url));
  };
  const collectionProps = ["d:resourcetype", "d:displayname", "cs:getctag", "c:supported-calendar-component-set"];
  const toCollection = (base: string, { href, props }: DAVResponse): DavCollection => ({
    url: new URL(href ?? "", base).href,
    name: textOf(props?.displayname),
    ctag: textOf(props?.getctag) || null,
  });
  return {
    async collections() {
      const { homeUrl = serverUrl } = await home.load();
      const answers = await propfind(homeUrl, "1", collectionProps);
      return answers.filter((answer) => isCollection(answer, kind)).map((answer) => toCollection(homeUrl, answer));
    },
    async collection(url) {
      const [answer] = await propfind(url, "0", collectionProps);
      if (answer) return toCollection(url, answer);
      throw new ConnectorError("params", `${new URL(url).host} has no collection at ${new URL(url).pathname}`);
    },
    async etags({ url }) {
      const answers = await propfind(url, "1", ["d:getetag", "d:resourcetype"]);
      const found = answers.filter(({ props }) => props?.getetag && !hasType(props?.resourcetype, "collection"));
      if (found.length > objectsMax)
        throw new ConnectorError("tool_error", `${url} has more than ${objectsMax} objects`);
      return new Map(found.map(({ href, props }) => [new URL(href ?? "", url).href, textOf(props?.getetag)]));
    },
    async objects({ url }, urls) {
      const dav = await load();
      const found: DavObject[] = [];
      const [get, data] =
        kind === "caldav" ? [dav.calendarMultiGet, "c:calendar-data"] : [dav.addressBookMultiGet, "card:address-data"];
      for (let at = 0; at < urls.length; at += chunkSize) {
        const objectUrls = urls.slice(at, at + chunkSize).map((each) => new URL(each).pathname);
        const answers = await get({
          url,
          props: { "d:getetag": {}, [data]: {} },
          objectUrls,
          depth: "1",
          fetch: request,
        });
        found.push(...answers.flatMap((answer) => toObject(checkAnswer(answer, url), url)));
      }
      return found;
    },
    async put({ url, data, etag }) {
      const dav = await load();
      const headers = {
        "content-type": contentTypes[kind],
        ...(etag === null ? { "If-None-Match": "*" } : { "If-Match": etag }),
      };
      const { status } = await dav.updateObject({ url, data, headers, fetch: request });
      return isDone(status, url);
    },
    async remove({ url, etag }) {
      const dav = await load();
      const { status } = await dav.deleteObject({ url, etag, fetch: request });
      return isDone(status, url);
    },
  };
}

function nameOf(kind: DavKind): string {
  return kind === "caldav" ? "CalDAV" : "CardDAV";
}

/** The library has no time limit and no errors of its own, so this function gives it both. */
function createFetch({ user, username, password, timeoutMs, allowPlain }: CheckedAccount): typeof fetch {
  const authorization = `Basic ${Buffer.from(`${username ?? user.address}:${password}`).toString("base64")}`;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (url.protocol !== "https:" && !allowPlain && !isLoopback(url.hostname)) {
      throw new ConnectorError("network", `${url.host} wants the password without TLS`, { fix: "use an https URL" });
    }
    const headers = new Headers(init.headers);
    headers.set("authorization", authorization);
    try {
      const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
      checkStatus(response, url);
      return response;
    } catch (thrown) {
      if (thrown instanceof ConnectorError) throw thrown;
      throw unreachable(url.host, thrown instanceof Error && thrown.cause ? thrown.cause : thrown);
    }
  };
}

const serverErrorFirst = 500;

function checkStatus({ status, headers }: Response, { host }: URL): void {
  if (status === 401) {
    throw new ConnectorError("auth", `${host} does not accept the user or the password`, {
      fix: "troupe connect mail",
    });
  }
  if (status === 403) throw new ConnectorError("permission", `${host} does not permit this to the account`);
  if (status === 429 || status === 503) {
    const retryAfterS = Number(headers.get("retry-after"));
    const details = retryAfterS > 0 ? { retryAfterS } : {};
    if (status === 429) throw new ConnectorError("rate_limit", `${host} accepts no more calls now`, details);
  }
  if (status >= serverErrorFirst) throw new ConnectorError("network", `${host} answered with HTTP status ${status}`);
}

async function discover(
  { user, username, password }: CheckedAccount,
  kind: DavKind,
  serverUrl: string,
  request: typeof fetch,
): Promise<DAVAccount> {
  const dav = await loadOptional("tsdav@2", () => import("tsdav"));
  const credentials = { username: username ?? user.address, password };
  try {
    return await dav.createAccount({ account: { serverUrl, accountType: kind, credentials }, fetch: request });
  } catch (cause) {
    if (cause instanceof ConnectorError) throw cause;
    throw new ConnectorError("tool_error", `no ${nameOf(kind)} account of the user was found at ${serverUrl}`, {
      fix: "check the URL: it is in the server's help for other programs",
      cause,
    });
  }
}

function checkAnswer(answer: DAVResponse, url: string): DAVResponse {
  const host = new URL(url).host;
  if (answer.status === notFound) return { ...answer, props: {} };
  if (!answer.ok) throw new ConnectorError("tool_error", `${host} answered with HTTP status ${answer.status}`);
  // An answer without properties is not WebDAV: a page for people, or broken XML.
  if (!answer.props)
    throw new ConnectorError("network", `the answer of ${host} cannot be read`, { fix: "check the URL" });
  return answer;
}

function isCollection({ props }: DAVResponse, kind: DavKind): boolean {
  if (!hasType(props?.resourcetype, collectionTypes[kind])) return false;
  const parts = [props?.supportedCalendarComponentSet?.comp ?? []].flat();
  const names = parts.map((part: { _attributes?: { name?: string } }) => part._attributes?.name ?? "VEVENT");
  return kind === "carddav" || names.length === 0 || names.includes("VEVENT");
}

function hasType(type: unknown, name: string): boolean {
  return typeof type === "object" && type !== null && name in type;
}

/** The parser of XML makes numbers of digits, and objects of CDATA and of nothing. */
function textOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return "_cdata" in value ? String(value._cdata) : "";
  return value === undefined || value === null ? "" : String(value);
}

function toObject({ href, props }: DAVResponse, url: string): DavObject[] {
  const data = textOf(props?.calendarData ?? props?.addressData);
  return data === "" ? [] : [{ url: new URL(href ?? "", url).href, etag: textOf(props?.getetag), data }];
}

function isDone(status: number, url: string): boolean {
  if (status === preconditionFailed || status === conflict || status === notFound) return false;
  if (status < 300) return true;
  throw new ConnectorError("tool_error", `${new URL(url).host} answered with HTTP status ${status}`);
}
