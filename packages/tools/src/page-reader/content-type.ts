export interface ContentType {
  kind: "html" | "json" | "text" | "binary" | "empty";
  /** The media type, or a description: `text/html`, `a PNG image`. */
  description: string;
  /** The type in the header if the content contradicts it; otherwise null. */
  contradicted: string | null;
  /** From the header. */
  charset: string | null;
}

/** The first bytes of binary file formats. */
const signatures: readonly (readonly [prefix: string, description: string])[] = [
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

/** Types of text whose names do not begin with `text/`. */
const textTypes =
  /^(?:text\/.*|image\/svg\+xml|application\/(?:.*[+/])?(?:xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql|rtf|x-sh|x-ndjson|jsonl))$/;
const markup =
  /^(?:\s|<!--[\s\S]{0,500}?-->|<\?xml[^>]{0,200}\?>)*<(?:!doctype\s+html|html|head|body|title|script|meta|h1|div|p|table|iframe|a)[\s>]/i;

/**
 * Determines the type of a body from its header and its first bytes. The bytes win, because headers can be wrong.
 *
 * @example
 * sniffContentType("text/html", pngBytes); // { kind: "binary", description: "a PNG image", contradicted: "text/html", … }
 */
export function sniffContentType(header: string | undefined, body: Buffer): ContentType {
  const { type, charset } = parseHeader(header);
  if (body.length === 0) return { kind: "empty", description: "empty", contradicted: null, charset };
  const head = body.toString("latin1", 0, 1_024);
  const binary = sniffBinary(head, charset);
  if (binary === null) return { ...typeOfText(type, head), charset };
  const isDeclared = type !== "" && type !== "application/octet-stream" && !isTextType(type);
  return {
    kind: "binary",
    description: binary.description ?? (isDeclared ? type : "binary data"),
    contradicted: isTextType(type) ? type : null,
    charset,
  };
}

function parseHeader(header = ""): { type: string; charset: string | null } {
  const [type = "", ...parameters] = header
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice(8)
    .replace(/^["']|["']$/g, "");
  return { type: /^[\w.+-]{1,60}\/[\w.+-]{1,80}$/.test(type) ? type : "", charset: charset || null };
}

/** Null for text. The description is null for an unknown binary format. */
function sniffBinary(head: string, charset: string | null): { description: string | null } | null {
  const signature = signatures.find(([prefix]) => head.startsWith(prefix));
  if (signature) return { description: signature[1] };
  if (head.startsWith("RIFF")) {
    return { description: head.startsWith("WEBP", 8) ? "a WebP image" : "a recording or video" };
  }
  if (head.startsWith("ftyp", 4)) return { description: "a video, recording or image" };
  const isUtf16 = head.startsWith("\xff\xfe") || head.startsWith("\xfe\xff") || charset?.startsWith("utf-16");
  return !isUtf16 && hasControls(head) ? { description: null } : null;
}

/** Text contains no control characters except white space, backspace and escape. */
function hasControls(head: string): boolean {
  return [...head].some((character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 && !(code >= 0x08 && code <= 0x0d) && code !== 0x1b;
  });
}

function typeOfText(type: string, head: string): Omit<ContentType, "charset"> {
  if (/^(?:text\/html|application\/xhtml\+xml)$/.test(type)) {
    return { kind: "html", description: type, contradicted: null };
  }
  if (/^application\/(?:.*\+)?json$/.test(type) || type === "text/json") {
    return { kind: "json", description: type, contradicted: null };
  }
  if (textTypes.test(type)) return { kind: "text", description: type, contradicted: null };
  const contradicted = type === "" ? null : type;
  if (markup.test(head.replace(/^\xef\xbb\xbf/, ""))) return { kind: "html", description: "text/html", contradicted };
  if (/^\s*[[{]/.test(head)) return { kind: "json", description: "application/json", contradicted };
  return { kind: "text", description: "text/plain", contradicted };
}

function isTextType(type: string): boolean {
  return typeOfText(type, "").contradicted === null && type !== "";
}
