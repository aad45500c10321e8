import { createRedactor } from "@troupe/core";

const redactor = createRedactor();

/**
 * How vendors begin their keys. Shorter than what is taken out of everything that is written: that a person should not
 * have put it there is enough to ask.
 */
const beginnings = [
  /\b(sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|nvapi|pplx|tgp|csk|fw|r8)[-_][A-Za-z0-9_-]{8,}/,
  /\bAIza[\w-]{8,}/,
  /\bBearer\s+\S{8,}/i,
  /\beyJ[\w-]{10,}\./,
];

/** Long, and of letters and digits mixed as nobody would name anything. */
const random = /[A-Za-z0-9+_]{32,}={0,2}/g;

/**
 * Whether a text has a key in it, so that it is better neither kept in a file nor shown. A guess: what is no key may
 * look like one.
 *
 * @example
 * looksLikeKey("sk-ant-api03-abcdefgh"); // true
 * looksLikeKey("ANTHROPIC_API_KEY"); // false
 */
export function looksLikeKey(text: string): boolean {
  if (redactor.text(text) !== text || beginnings.some((beginning) => beginning.test(text))) return true;
  return [...text.matchAll(random)].some(([run]) => /\d/.test(run) && /[A-Za-z]/.test(run) && /[a-z\d]/.test(run));
}

/** A text for people: in quotes, unless it may be a key. */
export function quoted(text: string): string {
  return looksLikeKey(text) ? "(hidden: it looks like a key)" : JSON.stringify(text);
}
