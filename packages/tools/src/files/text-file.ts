import { failure } from "../workspace/workspace-path.ts";

type Encoding = "UTF-8" | "UTF-16LE" | "UTF-16BE" | "Latin-1";

type LineEnds = "LF" | "CRLF" | "mixed";

/** The text of a file and how it is stored, so that a changed text is stored the same way. */
export interface TextFile {
  text: string;
  encoding: Encoding;
  /** True when the file starts with a byte order mark. */
  hasMark: boolean;
}

const marks: readonly { encoding: Encoding; bytes: readonly number[] }[] = [
  { encoding: "UTF-8", bytes: [0xef, 0xbb, 0xbf] },
  { encoding: "UTF-16LE", bytes: [0xff, 0xfe] },
  { encoding: "UTF-16BE", bytes: [0xfe, 0xff] },
];

/** Decodes the bytes of a file. Null for a binary file. */
export function decodeText(bytes: Buffer): TextFile | null {
  const mark = marks.find((candidate) => candidate.bytes.every((byte, i) => bytes[i] === byte));
  const body = mark ? bytes.subarray(mark.bytes.length) : bytes;
  const encoding = mark?.encoding ?? "UTF-8";
  const text = decodeAs(body, encoding);
  if (text !== null && !text.includes("\0")) return { text, encoding, hasMark: mark !== undefined };
  if (mark || !looksLikeLatin1(bytes)) return null;
  return { text: bytes.toString("latin1"), encoding: "Latin-1", hasMark: false };
}

/** Encodes a text. Throws a `RunFailure` when the encoding lacks one of its characters. */
export function encodeText(text: string, { encoding, hasMark }: Omit<TextFile, "text">, shown: string): Buffer {
  const mark = hasMark ? Buffer.from(marks.find((candidate) => candidate.encoding === encoding)?.bytes ?? []) : null;
  const body = encodeAs(text, encoding, shown);
  return mark ? Buffer.concat([mark, body]) : body;
}

/** Null for a text without a line end. */
export function lineEndsOf(text: string): LineEnds | null {
  let withReturn = 0;
  let all = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    all += 1;
    if (text.charCodeAt(at - 1) === 13) withReturn += 1;
  }
  if (all === 0) return null;
  if (withReturn === 0) return "LF";
  return withReturn === all ? "CRLF" : "mixed";
}

function decodeAs(bytes: Buffer, encoding: Encoding): string | null {
  try {
    const label = encoding === "UTF-8" ? "utf-8" : encoding === "UTF-16LE" ? "utf-16le" : "utf-16be";
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function encodeAs(text: string, encoding: Encoding, shown: string): Buffer {
  switch (encoding) {
    case "UTF-8":
      return Buffer.from(text);
    case "UTF-16LE":
      return Buffer.from(text, "utf16le");
    case "UTF-16BE":
      return Buffer.from(text, "utf16le").swap16();
    case "Latin-1": {
      const foreign = text.match(/[^\0-\xff]/u)?.[0];
      if (foreign === undefined) return Buffer.from(text, "latin1");
      throw failure(
        "params",
        `${shown} was not changed: it is stored as Latin-1, which has no ${JSON.stringify(foreign)}; write the whole ` +
          "file to store it as UTF-8",
      );
    }
  }
}

/** True for bytes without control characters, other than white space, that are mostly ASCII. */
function looksLikeLatin1(bytes: Buffer): boolean {
  let high = 0;
  for (const byte of bytes) {
    if (byte > 0x9f) high += 1;
    else if (byte > 0x7e || (byte < 0x20 && !(byte >= 9 && byte <= 13))) return false;
  }
  return high * 3 < bytes.length * 2;
}

const kinds: readonly { kind: string; signature: string }[] = [
  { kind: "a PNG image", signature: "\x89PNG" },
  { kind: "a JPEG image", signature: "\xff\xd8\xff" },
  { kind: "a GIF image", signature: "GIF8" },
  { kind: "a PDF document", signature: "%PDF" },
  { kind: "a ZIP archive", signature: "PK\x03\x04" },
  { kind: "gzip data", signature: "\x1f\x8b" },
  { kind: "a program", signature: "\x7fELF" },
  { kind: "a SQLite database", signature: "SQLite format 3" },
  { kind: "a WebAssembly module", signature: "\0asm" },
];

/** Names the kind of a binary file, for messages. */
export function binaryKind(bytes: Buffer): string {
  const start = bytes.subarray(0, 16).toString("latin1");
  return kinds.find(({ signature }) => start.startsWith(signature))?.kind ?? "not text in UTF-8, UTF-16 or Latin-1";
}
