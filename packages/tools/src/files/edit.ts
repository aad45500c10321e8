import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import { failure } from "../workspace/workspace-path.ts";
import { describeClosestLines } from "./closest-lines.ts";
import { contentCharactersMax, type FileToolDeps, pathField, versionField } from "./file-tool-deps.ts";
import { createFileWriter, nameWithVersion } from "./file-writer.ts";
import { binaryKind, decodeText, encodeText } from "./text-file.ts";

const text = z.string().max(contentCharactersMax);
const old = text;
const replacement = text;
const all = z.boolean().default(false);

const editsMax = 100;

/** Replaces exact texts of a file. */
export function createEditTool(deps: FileToolDeps): Tool {
  return createFileWriter(
    {
      name: "edit",
      description:
        "Replaces an exact text in a file. old must occur exactly once, unless all is set. Give old and new, or " +
        "edits for several changes in order, all or none. Read the file first.",
      input: z.strictObject({
        path: pathField,
        old: old.optional(),
        new: replacement.optional(),
        all: all.optional(),
        edits: z
          .array(z.strictObject({ old, new: replacement, all }))
          .min(1)
          .max(editsMax)
          .optional()
          .describe("Each one sees the result of the ones before it"),
        version: versionField,
      }),
      requests: (args) => {
        const edits = editsOf(args);
        return [{ path: args.path, version: args.version, make: (current, shown) => edited(current, edits, shown) }];
      },
      summarize: (args, [file]) => {
        const count = editsOf(args).length;
        return `Edited ${file ? nameWithVersion(file) : args.path}${count > 1 ? `: ${count} changes` : ""}`;
      },
    },
    deps,
  );
}

interface EditArguments {
  old?: string | undefined;
  new?: string | undefined;
  all?: boolean | undefined;
  edits?: TextEdit[] | undefined;
}

function editsOf({ old: from, new: to, all: everywhere = false, edits }: EditArguments): TextEdit[] {
  if (edits && from === undefined && to === undefined) return edits;
  if (!edits && from !== undefined && to !== undefined) return [{ old: from, new: to, all: everywhere }];
  throw failure("params", "give either old and new, or edits");
}

function edited(current: Buffer | null, edits: readonly TextEdit[], path: string): Buffer {
  if (current === null) throw failure("params", `${path} was not changed: there is no such file; create it with write`);
  const file = decodeText(current);
  if (file === null) throw failure("params", `${path} was not changed: it is ${binaryKind(current)}`);
  return encodeText(applyEdits(file.text, edits, path), file, path);
}

interface TextEdit {
  old: string;
  new: string;
  all: boolean;
}

/**
 * Applies edits one after the other. In a text with CRLF, a line feed of an edit matches either line end, and the
 * replacement gets the line ends of the text that it replaces.
 */
function applyEdits(original: string, edits: readonly TextEdit[], path: string): string {
  let current = original;
  for (const [i, edit] of edits.entries()) {
    const which = edits.length > 1 ? ` (edit ${i + 1} of ${edits.length}: nothing was changed)` : "";
    current = applyEdit(current, edit, `${path} was not changed${which}`);
  }
  if (current === original) throw failure("params", `${path} was not changed: the edits together have no effect`);
  return current;
}

function applyEdit(current: string, edit: TextEdit, notChanged: string): string {
  if (edit.old === "") throw failure("params", `${notChanged}: old is empty; use write to create a file`);
  if (edit.old === edit.new) throw failure("params", `${notChanged}: old and new are the same`);
  const plain = withLineFeedsOnly(current);
  const [target, replacementText] = plain.hasReturns
    ? [toLineFeeds(edit.old), toLineFeeds(edit.new)]
    : [edit.old, edit.new];
  const starts = occurrencesOf(target, plain.text);
  if (starts.length === 0)
    throw failure("params", `${notChanged}: old is not in it.${describeClosestLines(plain.text, edit.old)}`);
  if (starts.length > 1 && !edit.all) throw ambiguous(plain.text, starts, notChanged);
  const parts: string[] = [];
  let end = 0;
  for (const start of starts) {
    const [from, to] = [plain.originalIndex(start), plain.originalIndex(start + target.length)];
    const ends = plain.hasReturns ? lineEndsIn(current, from, to) : null;
    parts.push(current.slice(end, from), ends ? withLineEnds(replacementText, ends) : replacementText);
    end = to;
  }
  return parts.join("") + current.slice(end);
}

function occurrencesOf(target: string, source: string): number[] {
  const starts: number[] = [];
  for (let at = source.indexOf(target); at !== -1; at = source.indexOf(target, at + target.length)) starts.push(at);
  return starts;
}

const occurrencesShown = 10;

function ambiguous(source: string, starts: readonly number[], notChanged: string) {
  const lines = starts.slice(0, occurrencesShown).map((start) => `\n  ${describeLineAt(source, start)}`);
  const more = starts.length > occurrencesShown ? `\n  … and ${starts.length - occurrencesShown} more` : "";
  return failure(
    "params",
    `${notChanged}: old is in it ${starts.length} times; give more of the surrounding text to select one, or set ` +
      `all:${lines.join("")}${more}`,
  );
}

const excerptLength = 120;

/** The line that contains an index, with its number. */
function describeLineAt(source: string, index: number): string {
  const lineStart = source.lastIndexOf("\n", index - 1) + 1;
  const lineEnd = source.indexOf("\n", index);
  const line = source.slice(index === 0 ? 0 : lineStart, lineEnd === -1 ? source.length : lineEnd);
  let number = 1;
  for (let at = source.indexOf("\n"); at !== -1 && at < index; at = source.indexOf("\n", at + 1)) number += 1;
  return `line ${number}: ${line.trim().slice(0, excerptLength)}`;
}

/** A text with line feeds only, and a function from its indexes to those of the original. */
function withLineFeedsOnly(original: string) {
  if (!original.includes("\r\n")) return { text: original, hasReturns: false, originalIndex: (at: number) => at };
  /** Indexes, in the shorter text, of the line feeds that follow a carriage return in the original. */
  const feeds: number[] = [];
  for (let at = original.indexOf("\r\n"); at !== -1; at = original.indexOf("\r\n", at + 2))
    feeds.push(at - feeds.length);
  return {
    text: toLineFeeds(original),
    hasReturns: true,
    originalIndex: (at: number) => at + countBelow(feeds, at),
  };
}

function toLineFeeds(original: string): string {
  return original.replaceAll("\r\n", "\n");
}

/** How many of the sorted numbers are below the limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

type LineEnd = "\n" | "\r\n";

/** The line ends between two indexes, in order. For a part without one, the end of its line. */
function lineEndsIn(source: string, from: number, to: number): LineEnd[] {
  const within = [...source.slice(from, to).matchAll(/\r?\n/g)].map(([end]) => end as LineEnd);
  if (within.length > 0) return within;
  const next = source.indexOf("\n", to);
  const at = next === -1 ? source.lastIndexOf("\n", from - 1) : next;
  return [source[at - 1] === "\r" ? "\r\n" : "\n"];
}

function withLineEnds(source: string, ends: readonly LineEnd[]): string {
  let count = 0;
  return source.replaceAll("\n", () => ends[Math.min(count++, ends.length - 1)] ?? "\n");
}
