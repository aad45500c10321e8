// The same bytes are different text in another encoding, so the priority of the declarations matters.
import { expect, test } from "vitest";
import { decodeText } from "./decode-text.ts";

const latin = Buffer.from("caf\xe9 \x80", "latin1");
const meta = (charset: string, rest: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`<meta charset="${charset}">`), rest]);

test.for([
  ["UTF-8 without a declaration", Buffer.from("café"), null, "café", "utf-8"],
  ["other bytes without a declaration", latin, null, "café €", "windows-1252"],
  ["the charset of the header", latin, "iso-8859-1", "café €", "windows-1252"],
  [
    "the charset that the page declares",
    meta("windows-1251", Buffer.from([0xcf, 0xf0])),
    null,
    '<meta charset="windows-1251">Пр',
    "windows-1251",
  ],
  [
    "the header before the page",
    meta("windows-1251", Buffer.from("é")),
    "utf-8",
    '<meta charset="windows-1251">é',
    "utf-8",
  ],
  ["a byte order mark before the header", Buffer.from("\ufeffcafé", "utf16le"), "utf-8", "café", "utf-16le"],
  ["Shift_JIS", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "shift_jis", "日本", "shift_jis"],
  ["an unknown encoding", Buffer.from("café"), "x-nonsense", "café", "utf-8"],
  ["an encoding that browsers do not decode", Buffer.from("cafe"), "iso-2022-kr", "cafe", "utf-8"],
  ["UTF-16 that the page declares", meta("utf-16", Buffer.from("é")), null, '<meta charset="utf-16">é', "utf-8"],
  ["broken UTF-8 with a UTF-8 header", Buffer.from([0x61, 0xff, 0x62]), "utf-8", "a\ufffdb", "utf-8"],
  [
    "an XML declaration",
    Buffer.from('<?xml version="1.0" encoding="ISO-8859-2"?>\xb1', "latin1"),
    null,
    '<?xml version="1.0" encoding="ISO-8859-2"?>ą',
    "iso-8859-2",
  ],
  ["no bytes", Buffer.alloc(0), null, "", "utf-8"],
] as const)("%s", ([, bytes, headerCharset, text, charset]) => {
  expect(decodeText(bytes, headerCharset)).toEqual({ text, charset });
});
