import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The page of requirements with the two files that are compared with it. */
export interface RequirementsPage {
  markdown: string;
  /** The canonical text of each row, by id (docs/requirements.json). */
  texts: Record<string, string>;
  /** The number of tests that a describe held when a row named it (docs/requirements-tests.json). */
  testCounts: Record<string, number>;
}

export interface RequirementsRow {
  /** A number, with a letter where the number is split: `S2.1b`. */
  id: string;
  text: string;
  proof: string;
}

export const notYet = "not yet";
export const requirementsFile = join("docs", "requirements.md");
export const textsFile = join("docs", "requirements.json");
export const testCountsFile = join("docs", "requirements-tests.json");

export function readPage(root: string): RequirementsPage {
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  return {
    markdown: read(requirementsFile),
    texts: JSON.parse(read(textsFile)),
    testCounts: JSON.parse(read(testCountsFile)),
  };
}

/** Table rows whose first cell is an id: `| S1.1 | text | proof |`. A bar inside a cell is written `\|`. */
export function parseRows(markdown: string): RequirementsRow[] {
  return markdown.split("\n").flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    const [before, id = "", text = "", proof = ""] = cells;
    return before === "" && /^[A-Z]+\d*(\.\d+)+[a-z]*$/.test(id) ? [{ id, text, proof }] : [];
  });
}

/** The page without HTML comments and code fences, and the text in them. */
export function splitHidden(markdown: string): { shown: string; hidden: string } {
  const hiding = /<!--[\s\S]*?(?:-->|$(?![\s\S]))|^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm;
  const hidden: string[] = [];
  const shown = markdown.replace(hiding, (part) => {
    hidden.push(part.replace(/<!--|-->/g, "\n"));
    return "";
  });
  return { shown, hidden: hidden.join("\n") };
}

/** `S2.1` of `S2.1b`. */
export function numberOf(id: string): string {
  return id.replace(/[a-z]+$/, "");
}

/** The names in backticks of a proof cell: `path > name of a test or a describe`. */
export function proofNames(proof: string): string[] {
  return [...proof.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

/** Whether `name` is `outer` itself or inside of it. Compared as text, because a title may hold " > " itself. */
export function isWithin(name: string, outer: string): boolean {
  return `${name} > `.startsWith(`${outer} > `);
}
