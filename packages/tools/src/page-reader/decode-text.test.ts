// The same bytes are other words in another encoding; a page that is read in the wrong one is noise.
import { expect, test } from "vitest";
import { decodeText } from "./decode-text.ts";

const latin = Buffer.from("caf\xe9 \x80", "latin1");
const meta = (charset: string, rest: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`<meta charset="${charset}">`), rest]);

test.for([
  ["UTF-8, unsaid", Buffer.from("café"), null, "café", "utf-8"],
  ["what is no UTF-8, unsaid", latin, null, "café €", "windows-1252"],
  ["as the server says", latin, "iso-8859-1", "café €", "windows-1252"],
  [
    "as the page says",
    meta("windows-1251", Buffer.from([0xcf, 0xf0])),
    null,
    '<meta charset="windows-1251">Пр',
    "windows-1251",
  ],
  [
    "the server's word before the page's",
    meta("windows-1251", Buffer.from("é")),
    "utf-8",
    '<meta charset="windows-1251">é',
    "utf-8",
  ],
  ["a byte order mark before all", Buffer.from("\ufeffcafé", "utf16le"), "utf-8", "café", "utf-16le"],
  ["Shift_JIS", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "shift_jis", "日本", "shift_jis"],
  ["an encoding that nobody knows", Buffer.from("café"), "x-nonsense", "café", "utf-8"],
  ["one that is no longer decoded", Buffer.from("cafe"), "iso-2022-kr", "cafe", "utf-8"],
  ["UTF-16 that is said within the page", meta("utf-16", Buffer.from("é")), null, '<meta charset="utf-16">é', "utf-8"],
  ["broken UTF-8 that is said to be it", Buffer.from([0x61, 0xff, 0x62]), "utf-8", "a\ufffdb", "utf-8"],
  [
    "XML's own way",
    Buffer.from('<?xml version="1.0" encoding="ISO-8859-2"?>\xb1', "latin1"),
    null,
    '<?xml version="1.0" encoding="ISO-8859-2"?>ą',
    "iso-8859-2",
  ],
  ["nothing", Buffer.alloc(0), null, "", "utf-8"],
] as const)("%s", ([, bytes, said, text, charset]) => {
  expect(decodeText(bytes, said)).toEqual({ text, charset });
});
