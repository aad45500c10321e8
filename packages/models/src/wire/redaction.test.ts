import { expect, test } from "vitest";
import { looksLikeKey, quoted } from "./redaction.ts";

test.for([
  "sk-ant-api03-AbCdEf0123456789",
  "sk-ant-oat01-AbCdEf0123456789",
  "sk-proj-abcdefgh12345678",
  "sk-or-v1-0123456789abcdef",
  "gsk_abcdefgh12345678",
  "AIzaSyA0123456789abcdefghijklmnop",
  "Bearer abcdefgh1234",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx",
  "0123456789abcdef0123456789abcdef",
  "x=ghp_0123456789abcdefghij",
])("%s looks like a key, and is not shown", (text) => {
  expect(looksLikeKey(text)).toBe(true);
  expect(quoted(text)).not.toContain(text.slice(3));
});

test.for([
  "",
  "ANTHROPIC_API_KEY",
  "anthropic/claude-haiku-4-5-20251001",
  "openrouter/qwen/qwen3-coder-30b",
  "http://127.0.0.1:8000/v1",
  "ollama/hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M",
  "a-long-name-of-many-words-that-is-clearly-not-a-key",
  "task-runner",
])("%j does not", (text) => {
  expect(looksLikeKey(text)).toBe(false);
  expect(quoted(text)).toBe(JSON.stringify(text));
});
