import type { StoredMessage } from "./gmail.ts";

/** Reads the query language of Gmail: words, quoted parts, operators, `-`, `OR` and parentheses. */
export function gmailFilter(query: string): (message: StoredMessage) => boolean {
  const tokens = query.match(/-?(?:\w+:)?"[^"]*"|[()]|[^\s()]+/g) ?? [];
  const readAll = (): ((message: StoredMessage) => boolean) => {
    const alternatives: ((message: StoredMessage) => boolean)[][] = [[]];
    for (let token = tokens.shift(); token !== undefined && token !== ")"; token = tokens.shift()) {
      if (token === "OR") {
        const previous = alternatives.at(-1)?.pop() ?? (() => true);
        const next = termOf(tokens.shift() ?? "");
        alternatives.at(-1)?.push((message) => previous(message) || next(message));
      } else alternatives.at(-1)?.push(token === "(" ? readAll() : termOf(token));
    }
    const terms = alternatives.flat();
    return (message) => terms.every((term) => term(message));
  };
  return readAll();
}

function termOf(token: string): (message: StoredMessage) => boolean {
  const [, minus, operator = "", quoted, word = ""] = /^(-?)(?:(\w+):)?(?:"([^"]*)"|(.*))$/.exec(token) ?? [];
  const matches = operatorOf(operator, quoted ?? word);
  return minus === "-" ? (message) => !matches(message) : matches;
}

const labels: Record<string, string> = { inbox: "INBOX", sent: "SENT", drafts: "DRAFT" };

function operatorOf(operator: string, value: string): (message: StoredMessage) => boolean {
  switch (operator) {
    case "":
      return ({ searchText }) => hasPhrase(searchText.all, value);
    case "from":
      return ({ searchText }) => hasPhrase(searchText.from, value);
    case "to":
      return ({ searchText }) => hasPhrase(searchText.to, value);
    case "subject":
      return ({ searchText }) => hasPhrase(searchText.subject, value);
    case "in":
      return ({ labelIds }) => labelIds.includes(labels[value] ?? value);
    case "is":
      return ({ labelIds }) => labelIds.includes(value.toUpperCase());
    case "has":
      return ({ attachmentCount }) => attachmentCount > 0;
    case "after":
      return ({ internalDate }) => internalDate >= Number(value) * 1_000;
    case "before":
      return ({ internalDate }) => internalDate < Number(value) * 1_000;
    case "rfc822msgid":
      return ({ messageId }) => messageId === value || messageId === `<${value}>`;
    default:
      return () => false;
  }
}

/** The words of the phrase follow one another in the text. */
function hasPhrase(text: string, phrase: string): boolean {
  const wanted = wordsOf(phrase).join(" ");
  return wanted === "" || ` ${wordsOf(text).join(" ")} `.includes(` ${wanted} `);
}

function wordsOf(text: string): string[] {
  const folded = text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}
