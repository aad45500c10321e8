import type { ApprovalRow, RunRow, SessionDetail, SessionRow } from "@troupe/core";
import { TroupeError } from "@troupe/core";
import { bytesOf, itemBytesMax } from "./pages.ts";

/** The lists of a session, in the order in which their items come. */
const lists = ["runs", "approvals", "flaws", "undos"] as const;
type ListName = (typeof lists)[number];

/** The longest text, in bytes, of an item that is larger than a page. */
const textBytesMax = 16 * 1024;
/** Names of files of such an item. */
const namesMax = 100;

/**
 * The part of a session that follows a cursor, in at most 1 MB. The cursor names the last item before it: its list, and its
 * place or id, which never change. Without a cursor the page begins with the first run.
 */
export function cutSessionPage(detail: SessionDetail, after: string | undefined): SessionDetail {
  const { position, approvals: _, flaws: __, undos: ___, ...rest } = detail;
  const page: SessionDetail = { ...rest, position, session: cutSession(detail.session), runs: [], approvals: [] };
  let bytesLeft = itemBytesMax - bytesOf(page.session);
  let last: string | null = null;
  for (const { list, key, item } of itemsAfter(detail, after)) {
    const fitting = cutItem(list, item);
    const bytes = bytesOf(fitting) + 1;
    if (bytes > bytesLeft && last !== null) return { ...page, next: last };
    if (bytes <= bytesLeft) listOf(page, list).push(fitting);
    bytesLeft -= bytes;
    last = `${list}:${key}`;
  }
  return page;
}

function listOf(page: SessionDetail, list: ListName): object[] {
  const items: object[] = page[list] ?? [];
  Object.assign(page, { [list]: items });
  return items;
}

interface ListedItem {
  list: ListName;
  key: string;
  item: object;
}

function itemsAfter(detail: SessionDetail, after: string | undefined): ListedItem[] {
  const cursor = parseCursor(after);
  const first = cursor ? lists.indexOf(cursor.list) : 0;
  const items = lists.slice(first).flatMap((list) => itemsOf(detail, list));
  if (cursor === null) return items;
  const last = items.findIndex(({ list, key }) => list === cursor.list && key === cursor.key);
  // Without the item of the cursor, the next list follows.
  return last < 0 ? items.filter(({ list }) => list !== cursor.list) : items.slice(last + 1);
}

function itemsOf(detail: SessionDetail, list: ListName): ListedItem[] {
  const items: readonly object[] = detail[list] ?? [];
  return items.map((item, i) => ({ list, key: keyOf(list, item, i), item }));
}

function keyOf(list: ListName, item: object, i: number): string {
  if (list === "runs") return String((item as RunRow).order);
  return list === "approvals" ? (item as ApprovalRow).id : String(i);
}

function parseCursor(after: string | undefined): { list: ListName; key: string } | null {
  if (after === undefined) return null;
  const [name, key = ""] = after.split(":");
  const list = lists.find((each) => each === name);
  if (list && key !== "") return { list, key };
  throw new TroupeError("USAGE", `${JSON.stringify(after)} is not the \`next\` of a page`, {
    fix: "leave out after for the first page",
  });
}

/** An item that is larger than a quarter of a page has only the beginning of its texts. */
function cutItem(list: ListName, item: object): object {
  if (bytesOf(item) <= itemBytesMax / 4) return item;
  if (list === "runs") return { ...cutTexts(item), isCut: true };
  // The arguments of an approval are what a person decides about: all of them or none.
  return list === "approvals"
    ? { ...cutTexts(withoutPreview(item as ApprovalRow)), args: null, isCut: true }
    : cutTexts(item);
}

function cutSession(row: SessionRow): SessionRow {
  return bytesOf(row) <= itemBytesMax / 4 ? row : cutTexts(row);
}

function withoutPreview({ preview: _, losses: __, ...row }: ApprovalRow): object {
  return row;
}

function cutTexts<Row extends object>(row: Row): Row {
  const fields = Object.entries(row).map(([name, value]) => {
    if (typeof value === "string") return [name, cutText(value)];
    const isNames = Array.isArray(value) && value.every((each) => typeof each === "string");
    return [name, isNames ? value.slice(0, namesMax).map((each) => cutText(each, textBytesMax / namesMax)) : value];
  });
  return Object.fromEntries(fields) as Row;
}

function cutText(text: string, bytesMax = textBytesMax): string {
  // Six bytes for a control character, and never half of a character.
  return bytesOf(text) <= bytesMax ? text : `${text.slice(0, bytesMax / 6).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
