import type { RunResponse } from "../../protocol/response.ts";

/** The sections of an answer that sub-agents are asked to write. Prose only: facts come from the runtime. */
export interface Sections {
  summary: string;
  findings: string[];
  warnings: string[];
  suggestions: string[];
  /** Confidence of the model that its result is right, from 0 to 1. Null if it does not say. */
  confidence: number | null;
}

const itemsMax = 100;
const itemCharactersMax = 2_000;
/** List items that mean an empty list. */
const emptyItem = /^(none|no|nothing|n\/a|-|–|—)\.?$/i;

/**
 * Reads the sections of an answer in Markdown.
 *
 * @example
 * sectionsOf("## Summary\nDone.\n\n## Findings\n- two bugs").findings; // ["two bugs"]
 */
export function sectionsOf(text: string): Sections {
  const bodies = bodiesOf(text, sectionNames);
  return {
    summary: bodies.summary.join("\n").trim(),
    findings: itemsOf(bodies.findings),
    warnings: itemsOf(bodies.warnings),
    suggestions: itemsOf(bodies.suggestions),
    confidence: confidenceOf(bodies.confidence.join("\n")),
  };
}

/** Reads `0.8` or `80 %` at the beginning of a text. Null for anything else, such as `8/10` or `high`. */
function confidenceOf(text: string): number | null {
  const [, digits = "", percent] = /^\s*(?:[-*+]\s+)?(\d+(?:\.\d+)?)(?![\d.]*\/)\s*(%?)/.exec(text) ?? [];
  if (digits === "") return null;
  const value = percent === "%" ? Number(digits) / 100 : Number(digits);
  return value <= 1 ? value : null;
}

/**
 * A text without some of its sections and their headings.
 *
 * @example
 * withoutSections("## Summary\nDone.\n\n## Details\nAll of it.", ["summary"]); // "## Details\nAll of it."
 */
export function withoutSections(text: string, names: readonly (keyof Sections)[]): string {
  const remaining = linesOf(text, sectionNames).filter(({ section }) => section === null || !names.includes(section));
  return remaining
    .map(({ line }) => line)
    .join("\n")
    .trim();
}

/** Sections of the answers of domain agents, beside those of every answer. */
export interface ExtraSections {
  /** Readings of an ambiguous request that the agent chose. */
  assumptions: string[];
  /** Data that the request needs and that was not found. */
  missing: string[];
}

/**
 * Reads the sections that only domain agents write.
 *
 * @example
 * extraSectionsOf("Booked.\n\n## Assumptions\n- one hour").assumptions; // ["one hour"]
 */
export function extraSectionsOf(text: string): ExtraSections {
  const bodies = bodiesOf(text, [...sectionNames, "assumptions", "missing"]);
  return { assumptions: itemsOf(bodies.assumptions), missing: itemsOf(bodies.missing) };
}

const sectionNames = ["summary", "findings", "warnings", "suggestions", "confidence"] as const;

/** The lines under each known heading. */
function bodiesOf<Name extends string>(text: string, names: readonly Name[]): Record<Name, string[]> {
  const bodies = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, string[]>;
  for (const { line, section, isHeading } of linesOf(text, names)) {
    if (section !== null && !isHeading) bodies[section].push(line);
  }
  return bodies;
}

interface SectionLine<Name extends string> {
  line: string;
  /** The known section that it belongs to. Lines under a deeper heading belong to the same section. */
  section: Name | null;
  isHeading: boolean;
}

function linesOf<Name extends string>(text: string, names: readonly Name[]): SectionLine<Name>[] {
  let current: { level: number; section: Name } | null = null;
  let isCode = false;
  return text.split(/\r?\n/).map((line) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const [, marks = "", name = ""] = (isCode ? null : /^(#{1,6})\s+(.*?):?\s*$/.exec(line)) ?? [];
    const known = names.find((section) => section === name.toLowerCase());
    if (known) current = { level: marks.length, section: known };
    else if (marks !== "" && current && marks.length <= current.level) current = null;
    return { line, section: current?.section ?? null, isHeading: marks !== "" };
  });
}

/** The items of a list, each with its continuation lines. A paragraph is one item. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    const bullet = /^\s{0,3}(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line)?.[1];
    const content = (bullet ?? line).trim();
    if (content === "") isOpen = false;
    else if (bullet !== undefined || !isOpen || items.length === 0) items.push(content);
    else items[items.length - 1] += ` ${content}`;
    if (content !== "") isOpen = true;
  }
  return items
    .filter((item) => !emptyItem.test(item))
    .slice(0, itemsMax)
    .map((item) => item.slice(0, itemCharactersMax));
}

/** The JSON value of an answer: its whole text, or its first fenced block. Undefined if neither is JSON. */
export function parseJsonAnswer(text: string): RunResponse["data"] | undefined {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)```/.exec(text)?.[1];
  for (const candidate of [text, ...(fenced === undefined ? [] : [fenced])]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // Try the next candidate.
    }
  }
  return undefined;
}
