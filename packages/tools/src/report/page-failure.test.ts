/** A page that was not read gets the code that decides about its retry, from our own fetch and from page readers alike. */
import { RunFailure } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { classifyPageText, classifyStatus, classifyThrown } from "./page-failure.ts";

/** Pads a text with spaces to a size in bytes. */
const sized = (text: string, bytes: number): string => text + " ".repeat(bytes - Buffer.byteLength(text));

const timeoutAnswer = sized('{"error":{"code":"1234","message":"the network timed out while the page was read"}}', 171);
const missingAnswer = sized('{"error":{"code":"1214","message":"there is no such page"}}', 90);

describe("the text of a page reader", () => {
  test.for([
    ["the timeout of 171 bytes", timeoutAnswer, "1234"],
    ["the missing page of 90 bytes", missingAnswer, "1214"],
    ["a code at its top", '{"code":1214,"msg":"no"}', "1214"],
    ["a number as code", '{"error":{"code":1234}}', "1234"],
    ["171 bytes around the code", sized("page reader: code 1234, timeout", 171), "1234"],
    ["90 bytes around the code", sized("page reader: code 1214", 90), "1214"],
    ["an MCP error", "MCP error -32603: internal error", "mcp_error"],
    ["an MCP error behind a prefix", "Error: MCP error -32000: connection closed", "mcp_error"],
    ["an MCP error inside of a short answer", '{"text":"MCP error -1"}', "mcp_error"],
  ] as const)("%s has its kind", ([, text, kind]) => {
    expect(classifyPageText(text)?.kind).toBe(kind);
  });

  test.for([
    ["a short text with the code", "Room 1234 is on the left."],
    ["170 bytes with the code", sized("code 1234", 170)],
    ["171 bytes with another number", sized("code 12345", 171)],
    ["a long article about MCP", `A day with an MCP error ${"in our server. ".repeat(100)}`],
    ["JSON with another code", '{"error":{"code":"1000"}}'],
    ["an article", "The river rose by two metres."],
  ] as const)("%s is an article", ([, text]) => {
    expect(classifyPageText(text)).toBeNull();
  });

  test("that should be JSON and is not is unreadable", () => {
    expect(classifyPageText('{"title": "cut of', { isJson: true })?.kind).toBe("unreadable");
    expect(classifyPageText('{"title": "whole"}', { isJson: true })).toBeNull();
  });
});

test.for([
  [200, null],
  [204, null],
  [404, "1214"],
  [410, "1214"],
  [408, "1234"],
  [500, "1234"],
  [503, "1234"],
  [304, "failed"],
  [401, "failed"],
  [403, "failed"],
  [429, "failed"],
] as const)("status %s of our own fetch is %s", ([status, kind]) => {
  expect(classifyStatus(status)?.kind ?? null).toBe(kind);
});

test.for([
  ["timeout", true, "1234"],
  ["network", true, "1234"],
  ["network", false, "failed"],
  ["permission", false, "failed"],
  ["rate_limit", true, "failed"],
  ["tool_error", false, "failed"],
] as const)("an error %s of our own fetch, recoverable: %s, is %s", ([type, recoverable, kind]) => {
  const thrown = new RunFailure({ type, message: "line one\nline two", recoverable });
  expect(classifyThrown(thrown)).toEqual({ kind, message: "line one line two" });
  expect(classifyThrown(new Error("a bug")).kind).toBe("failed");
});
