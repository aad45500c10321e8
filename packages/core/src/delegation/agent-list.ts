import { agentListTokensDefault } from "../defaults.ts";

/** An agent as the delegating model reads of it. */
export interface ListedAgent {
  id: string;
  description: string;
  /** Summary of its earlier runs. Absent: none. */
  hint?: string;
}

/** The agents that a run may delegate to, in as many words as the token budget allows. */
export interface AgentListing {
  /** The list as the model reads it, one agent a line, or names only. Empty without agents. */
  text: string;
  /** Ids for the enum of the tool; null if they would cost too much. The machine checks each target in either case. */
  ids: readonly string[] | null;
  /** Whether descriptions are shorter than usual, or agents are left out, so that a search is worth its tokens. */
  isShortened: boolean;
}

/** Lengths to which descriptions are cut, in characters: the longest with which the list fits. */
const descriptionLengths = [300, 160, 80] as const;
/** The tools have the ids twice: for one task, and for several. */
const enumCopies = 2;
const charactersPerToken = 4;

/**
 * Lists agents within a token budget. Descriptions get shorter with the number of agents. Beyond that only names are
 * listed, and beyond that only some of them.
 *
 * @param tokensMax estimated at four characters a token
 * @example
 * listAgents([{ id: "coder", description: "Writes code. Use it for features." }]).text;
 * // "- coder: Writes code. Use it for features."
 */
export function listAgents(agents: readonly ListedAgent[], tokensMax: number = agentListTokensDefault): AgentListing {
  const charactersMax = tokensMax * charactersPerToken;
  const ids = agents.map(({ id }) => id);
  const enumCharacters = JSON.stringify(ids).length * enumCopies;
  for (const [at, lengthMax] of descriptionLengths.entries()) {
    const text = agents.map((agent) => lineOf(agent, lengthMax)).join("\n");
    if (text.length + enumCharacters <= charactersMax) return { text, ids, isShortened: at > 0 };
  }
  return { text: namesOf(ids, charactersMax), ids: null, isShortened: true };
}

function lineOf({ id, description, hint }: ListedAgent, lengthMax: number): string {
  const about = shorten(description, lengthMax);
  return `- ${id}${about === "" ? "" : `: ${about}`}${hint === undefined ? "" : ` (${hint})`}`;
}

function namesOf(ids: readonly string[], charactersMax: number): string {
  const all = ids.join(", ");
  if (all.length <= charactersMax) return all;
  const more = (count: number): string => ` and ${count} more`;
  const space = charactersMax - more(ids.length).length;
  let shown = 0;
  for (let length = 0; shown < ids.length; shown += 1) {
    length += (ids[shown] ?? "").length + 2;
    if (length > space) break;
  }
  return `${ids.slice(0, shown).join(", ")}${more(ids.length - shown)}`.trimStart();
}

/**
 * A text on one line with at most so many characters. A longer text ends after its last whole sentence that fits, if that
 * leaves at least half of the room, or after its last whole word.
 *
 * @example
 * shorten("Writes code. Use it for features over several files.", 30); // "Writes code. Use it for…"
 */
export function shorten(text: string, lengthMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= lengthMax) return line;
  const space = line.slice(0, lengthMax - 1);
  const sentences = /^.*[.!?](?= )/.exec(line.slice(0, lengthMax))?.[0] ?? "";
  if (sentences.length >= lengthMax / 2) return sentences;
  const words = line[space.length] === " " ? space : space.slice(0, Math.max(space.lastIndexOf(" "), 0));
  // A text of one long word is cut within it, but not within a character.
  return `${(words || space.replace(/[\uD800-\uDBFF]$/, "")).replace(/[\s,;:–-]+$/, "")}…`;
}
