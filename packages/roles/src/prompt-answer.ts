import type { AgentDefinition } from "@troupe/core";
import { fenced } from "./prompt-text.ts";

type OutputSchema = AgentDefinition["outputSchema"];

const oneAnswer = `You get one message and give one answer; you cannot ask back. Where the task leaves something open, take the most
likely reading and name it; where data is missing, say which. Your last message, without tool calls, is the answer.`;

/**
 * How a sub-agent has to answer. The headings are read by machines as well: core takes findings, warnings and
 * suggestions from the lists under theirs.
 */
const inSections = `## Your answer

${oneAnswer}
Write it in Markdown under these headings, by exactly these names, and leave out any that would stand alone:

- \`## Summary\`: the outcome in a few sentences, at most 500 characters.
- \`## Details\`: what was done or found, with paths, figures and evidence, and all that your role reports besides.
- \`## Findings\`: a list of what was found out, the most important first, each with where it was seen.
- \`## Files\`: a list of the files that you created and of those that you modified.
- \`## Warnings\`: a list of what failed, was skipped, or is uncertain.
- \`## Suggestions\`: a list of what should be done next.`;

/** The section on the answer; none for a root that is free in its form: it talks to a person. */
export function answerSection(depth: number, schema: OutputSchema): string[] {
  if (schema !== null) return [inJson(schema, depth)];
  return depth > 0 ? [inSections] : [];
}

function inJson(schema: NonNullable<OutputSchema>, depth: number): string {
  return [
    "## Your answer",
    "",
    depth > 0 ? oneAnswer : "Your last message, without tool calls, is the answer.",
    "It has to be one JSON value that fits this JSON Schema, with no word before or after it:",
    "",
    ...fenced("schema", JSON.stringify(schema, null, 2)),
    "",
    "It is checked. What is uncertain goes where the schema has room for it; never invent a value to fill a place.",
  ].join("\n");
}
