/** What a page really is: what its server says, held against its first bytes. */
export interface ContentKind {
  kind: "html" | "json" | "text" | "binary" | "empty";
  /** In words: `text/html`, `a PNG image`. */
  is: string;
  /** What the server said, where that is something else; null where it is right, or said nothing. */
  insteadOf: string | null;
  /** As the header says. */
  charset: string | null;
}

/** How files begin that are no text. */
const signatures: readonly (readonly [beginning: string, what: string])[] = [
  ["\x89PNG\r\n\x1a\n", "a PNG image"],
  ["\xff\xd8\xff", "a JPEG image"],
  ["GIF8", "a GIF image"],
  ["%PDF-", "a PDF document"],
  ["PK\x03\x04", "a ZIP archive, or an office document"],
  ["\x1f\x8b", "gzip data"],
  ["BZh", "bzip2 data"],
  ["\xfd7zXZ", "xz data"],
  ["7z\xbc\xaf", "a 7z archive"],
  ["Rar!", "a RAR archive"],
  ["\x28\xb5\x2f\xfd", "zstd data"],
  ["\x7fELF", "a program"],
  ["MZ\x90", "a program"],
  ["\0asm", "a WebAssembly module"],
  ["OggS", "an Ogg recording"],
  ["ID3", "an MP3 recording"],
  ["fLaC", "a FLAC recording"],
  ["\x1aE\xdf\xa3", "a video"],
  ["wOFF", "a font"],
  ["wOF2", "a font"],
  ["SQLite format 3", "a database"],
  ["\xd0\xcf\x11\xe0", "an old office document"],
];

/** Types whose content is text although their name does not begin so. */
const textTypes =
  /^(?:text\/.*|image\/svg\+xml|application\/(?:.*[+/])?(?:xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql|rtf|x-sh|x-ndjson|jsonl))$/;
const markup =
  /^(?:\s|<!--[\s\S]{0,500}?-->|<\?xml[^>]{0,200}\?>)*<(?:!doctype\s+html|html|head|body|title|script|meta|h1|div|p|table|iframe|a)[\s>]/i;

/**
 * @example
 * contentKind("text/html", pngBytes); // { kind: "binary", is: "a PNG image", insteadOf: "text/html", … }
 */
export function contentKind(header: string | undefined, body: Buffer): ContentKind {
  const { type, charset } = parseType(header);
  if (body.length === 0) return { kind: "empty", is: "empty", insteadOf: null, charset };
  const beginning = body.toString("latin1", 0, 1_024);
  const binary = binaryKind(beginning, charset);
  if (binary !== null) {
    const isSaid = type !== "" && type !== "application/octet-stream" && !isTextual(type);
    return {
      kind: "binary",
      is: binary ?? (isSaid ? type : "binary data"),
      insteadOf: isTextual(type) ? type : null,
      charset,
    };
  }
  return { ...textKind(type, beginning), charset };
}

function parseType(header = ""): { type: string; charset: string | null } {
  const [type = "", ...rest] = header
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = rest
    .find((part) => part.startsWith("charset="))
    ?.slice(8)
    .replace(/^["']|["']$/g, "");
  return { type: /^[\w.+-]{1,60}\/[\w.+-]{1,80}$/.test(type) ? type : "", charset: charset || null };
}

/** Null: text. Undefined: binary, and nobody knows which. */
function binaryKind(beginning: string, charset: string | null): string | null | undefined {
  const known = signatures.find(([start]) => beginning.startsWith(start));
  if (known) return known[1];
  if (beginning.startsWith("RIFF")) return beginning.startsWith("WEBP", 8) ? "a WebP image" : "a recording or video";
  if (beginning.startsWith("ftyp", 4)) return "a video, recording or image";
  const isWide = beginning.startsWith("\xff\xfe") || beginning.startsWith("\xfe\xff") || charset?.startsWith("utf-16");
  return !isWide && hasControls(beginning) ? undefined : null;
}

/** Characters that no text has: all controls but white space, backspace and escape. */
function hasControls(beginning: string): boolean {
  return [...beginning].some((character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 && !(code >= 0x08 && code <= 0x0d) && code !== 0x1b;
  });
}

function textKind(type: string, beginning: string): Pick<ContentKind, "kind" | "is" | "insteadOf"> {
  if (/^(?:text\/html|application\/xhtml\+xml)$/.test(type)) return { kind: "html", is: type, insteadOf: null };
  if (/^application\/(?:.*\+)?json$/.test(type) || type === "text/json")
    return { kind: "json", is: type, insteadOf: null };
  if (textTypes.test(type)) return { kind: "text", is: type, insteadOf: null };
  const insteadOf = type === "" ? null : type;
  if (markup.test(beginning.replace(/^\xef\xbb\xbf/, ""))) return { kind: "html", is: "text/html", insteadOf };
  if (/^\s*[[{]/.test(beginning)) return { kind: "json", is: "application/json", insteadOf };
  return { kind: "text", is: "text/plain", insteadOf };
}

function isTextual(type: string): boolean {
  return textKind(type, "").insteadOf === null && type !== "";
}
