import type { BuiltinVerifier } from "./verifier.ts";

interface Claim {
  what: string;
  /** Sentences that claim the action, in the words of models. */
  pattern: RegExp;
  /** Tools of which one must have been called. */
  tools: readonly string[];
}

const shells = ["shell", "test", "git", "git_diff", "git_commit"];

const claims: readonly Claim[] = [
  {
    what: "to have run the tests",
    pattern:
      /\b(?:I|we)(?:'ve| have)? (?:also |then |just )?(?:ran|run|executed|re-?ran) (?:all |the |all the |our |its )?(?:\w+ )?tests?\b|\ball (?:the |\d+ )?tests? (?:now )?pass(?:ed)?\b|\btests? (?:are|were) (?:run|executed)\b/i,
    tools: ["test", "shell"],
  },
  {
    what: "to have run a command",
    pattern:
      /\b(?:I|we)(?:'ve| have)? (?:also |then |just )?(?:ran|executed) (?:the |a )?(?:command|script|build|linter|program)\b/i,
    tools: shells,
  },
  {
    what: "to have read web pages",
    pattern:
      /\b(?:I|we)(?:'ve| have)? (?:also |then |just )?(?:fetched|crawled|visited|browsed|downloaded) (?:\w+ ){0,3}(?:web ?)?(?:pages?|sites?|articles?|urls?|websites?)\b/i,
    tools: ["web_fetch", "webReader", "crawl_parallel"],
  },
  {
    what: "to have searched the web",
    pattern: /\b(?:I|we)(?:'ve| have)? (?:also |then |just )?(?:searched|googled) (?:the )?(?:web|internet|online)\b/i,
    tools: ["web_search"],
  },
  {
    what: "to have committed the change",
    pattern:
      /\b(?:I|we)(?:'ve| have)? (?:also |then |just )?committed (?:the |my |this |all )?(?:changes?|code|work|fix|it)\b/i,
    tools: ["git_commit", "git", "shell"],
  },
];

/** Checks that the run has called a tool for each action that its answer claims. A child's calls count as well. */
export const claimsHaveCalls: BuiltinVerifier<"claims-have-calls"> = async ({ response }) => {
  const used = new Set(response.toolsUsed);
  const sentences = response.details.split(/(?<=[.!?])\s+|\n+/);
  return claims.flatMap(({ what, pattern, tools }) => {
    const sentence = sentences.find((each) => pattern.test(each));
    if (sentence === undefined || tools.some((tool) => used.has(tool)) || used.has("delegate")) return [];
    return [
      `the answer claims ${what} (${JSON.stringify(sentence.trim().slice(0, 200))}), but no call of ${tools.join(", ")} was made`,
    ];
  });
};
