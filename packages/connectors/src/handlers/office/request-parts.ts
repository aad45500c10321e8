import { type IntentMatch, matchIntent } from "../../intents/match-intent.ts";
import { type IntentDomain, patternsOf } from "../../intents/pattern-file.ts";

/** One part of a request, for one domain. */
export interface RequestPart {
  /** As the request says it. */
  text: string;
  match: IntentMatch;
}

/** Verbs with which a part can begin. */
const verbs =
  "find|search|look|list|show|get|give|tell|who|what|send|e-?mail|mail|write|compose|draft|reply|answer|respond|forward|" +
  "schedule|book|set up|create|plan|arrange|organi[sz]e|add|invite|meet|block|reserve|check|cancel|delete|remove|call off|" +
  "move|reschedule|postpone|push|shift|rename|extend|shorten|summari[sz]e|recap|analy[sz]e|catch|post|announce|share|" +
  "publish|message|ping|notify|inform|let|read|open|validate|verify|is|are|am|when";
const joint = "(?:and then|then also|and also|and finally|and|then|also|finally|afterwards)";
const boundary = new RegExp(
  String.raw`(?:\s*[;.!?]\s+(?:${joint},?\s+)?|\s*,\s*(?:${joint}\s+)?|\s+${joint}\s+)(?=(?:please\s+)?(?:${verbs})\b)`,
  "giu",
);
/** A boundary that also ends the text of a message. */
const strong = /[;.!?]|,\s*(?:and|then|also|finally)|\bthen\b/i;
const textBegins = /\b(?:saying|that)\b|:\s|["“]/i;

/** A request with more joints is a text, and no list of parts. */
const boundariesMax = 12;

interface Boundary {
  /** The end of the part before, and the start of the part behind. */
  end: number;
  start: number;
  isStrong: boolean;
}

/**
 * Splits a request into as many parts as possible that a domain understands. Null if a part is left that none does.
 *
 * @example
 * splitRequest("Find people at Acme, and post in #sales: hello").map(({ match }) => match.domain); // ["contacts", "slack"]
 */
export function splitRequest(request: string): RequestPart[] | null {
  const text = request.replace(/\s+/g, " ").trim();
  const found = [...text.matchAll(boundary)].map(({ 0: words, index }): Boundary => {
    return { end: index, start: index + words.length, isStrong: strong.test(words) };
  });
  if (found.length > boundariesMax) return null;
  const boundaries = [...found, { end: text.length, start: text.length, isStrong: true }];
  const known = new Map<number, RequestPart[] | null>();
  const partsFrom = (start: number): RequestPart[] | null => {
    if (start >= text.length) return [];
    const before = known.get(start);
    if (before !== undefined) return before;
    let best: RequestPart[] | null = null;
    for (const each of boundaries.filter(({ end }) => end > start)) {
      const part = partOf(text.slice(start, each.end), each);
      const rest = part && partsFrom(each.start);
      if (rest && (best === null || rest.length + 1 > best.length)) best = [part, ...rest];
    }
    known.set(start, best);
    return best;
  };
  return partsFrom(0);
}

/** The part before a boundary. Null if no domain understands it, or if the boundary is inside of a message. */
function partOf(text: string, { isStrong }: Boundary): RequestPart | null {
  const isQuoteOpen = (text.match(/["“”]/g) ?? []).length % 2 === 1;
  if (isQuoteOpen || (!isStrong && textBegins.test(text))) return null;
  if (hasJoint(text)) return null;
  const plain = text.trim().replace(/[.!]+$/, "");
  const match = matchDomain(plain);
  return match && { text: plain, match };
}

/** A pattern such as that of a search would take "find Mara, and write a poem" for its words. Only a message can have joints. */
function hasJoint(text: string): boolean {
  const message = textBegins.exec(text)?.index ?? text.length;
  return [...text.matchAll(boundary)].some(({ index }) => index < message);
}

/** The first domain that understands a request. Words such as `#general` or `inbox` decide the doubtful cases. */
function matchDomain(text: string): IntentMatch | null {
  for (const domain of domainOrder(text)) {
    const match = matchIntent(domain, text);
    // A search of channels takes any words, so the request has to mention them.
    if (match && (domain !== "slack" || match.pattern !== "search" || channelWords.test(text))) return match;
  }
  return null;
}

const channelWords = /#[\p{L}\p{N}]|\b(?:slack|channels?|messages?|posts?|discussions?|conversations?|mentions?)\b/iu;

function domainOrder(text: string): IntentDomain[] {
  if (/#[\p{L}\p{N}]|\bslack\b|@[\p{L}]+(?![\p{L}\p{N}.@-])/iu.test(text) && !/\S@\S/.test(text)) {
    return ["slack", "gmail", "calendar", "contacts"];
  }
  return ["gmail", "calendar", "contacts", "slack"];
}

/** The words of the people of a part. Null if it names none. */
export function peopleWords({ match }: RequestPart): string | null {
  const domain = match.domain === "email" ? "gmail" : (match.domain as IntentDomain);
  const params = patternsOf(domain).patterns.find(({ name }) => name === match.pattern)?.params ?? {};
  const [param] = Object.entries(params).find(([name, kind]) => kind === "people" && match.words[name]) ?? [];
  return param === undefined ? null : (match.words[param] ?? null);
}
