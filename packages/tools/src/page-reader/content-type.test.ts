// Headers can be wrong, so the first bytes decide the type of a body.
import { describe, expect, test } from "vitest";
import { sniffContentType } from "./content-type.ts";

const png = "\x89PNG\r\n\x1a\n....";
const html = "<!DOCTYPE html><html><body>hello</body></html>";

describe("the content is", () => {
  test.for([
    ["text/html; charset=UTF-8", html, "html", "text/html", null],
    ["application/xhtml+xml", html, "html", "application/xhtml+xml", null],
    ["text/html", png, "binary", "a PNG image", "text/html"],
    ["image/png", html, "html", "text/html", "image/png"],
    ["image/png", png, "binary", "a PNG image", null],
    ["application/json", "{}", "json", "application/json", null],
    ["application/ld+json", "{}", "json", "application/ld+json", null],
    ["application/octet-stream", '{"a": 1}', "json", "application/json", "application/octet-stream"],
    [undefined, "  [1, 2]", "json", "application/json", null],
    [undefined, "\n<!-- hello --><html>", "html", "text/html", null],
    [undefined, "\xef\xbb\xbf<!doctype html>", "html", "text/html", null],
    [undefined, "hello", "text", "text/plain", null],
    ["nonsense", "hello", "text", "text/plain", null],
    ["text/plain", html, "text", "text/plain", null],
    ["text/markdown", "# hello", "text", "text/markdown", null],
    ["application/xml", "<a/>", "text", "application/xml", null],
    ["image/svg+xml", "<svg/>", "text", "image/svg+xml", null],
    ["application/pdf", "%PDF-1.7", "binary", "a PDF document", null],
    ["text/plain", "%PDF-1.7", "binary", "a PDF document", "text/plain"],
    ["text/plain", "a\0b", "binary", "binary data", "text/plain"],
    ["application/x-thing", "a\0b", "binary", "application/x-thing", null],
    ["text/plain", "\xff\xfea\0b\0", "text", "text/plain", null],
    ["text/plain; charset=utf-16le", "a\0b\0", "text", "text/plain", null],
    ["text/html", "RIFF1234WEBPVP8 ", "binary", "a WebP image", "text/html"],
    ["text/html", "\0\0\0\x18ftypmp42", "binary", "a video, recording or image", "text/html"],
    ["text/html", "", "empty", "empty", null],
  ] as const)("%s, %j: %s, %s", ([type, body, kind, description, contradicted]) => {
    expect(sniffContentType(type, Buffer.from(body, "latin1"))).toMatchObject({ kind, description, contradicted });
  });
});

test("the charset comes from the header, quoted or not", () => {
  expect(sniffContentType('text/html; x=y; Charset="ISO-8859-1"', Buffer.from("x")).charset).toBe("iso-8859-1");
  expect(sniffContentType("text/html; charset=", Buffer.from("x")).charset).toBeNull();
});
