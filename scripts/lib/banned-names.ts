/** A word that names of files and declarations do not use. */
export interface BannedName {
  /** In camel case where it is several words; it is found in camel case, kebab case and constant case alike. */
  word: string;
  /** Other forms of the word, counted with it. */
  also?: string[];
  /** The plain word, or the choice of them. */
  use: string;
  /** Names of properties and methods count as well. Not for a word that is a key of a message, of JSON or of SQL. */
  members?: boolean;
  /** Counts only in paths that match. */
  under?: RegExp;
  /** Counts only in names of files and folders: in code the word has other, plain uses. */
  filesOnly?: boolean;
}

/**
 * Add a row for each word that the project gives up, then run `pnpm lint:lower` once to record today's count.
 * Strings are never checked, so that kinds of messages, flags and SQL names may keep an old word.
 */
export const bannedNames: BannedName[] = [
  { word: "asks", use: "requester, requests, questions" },
  { word: "brought", also: ["bring"], use: "collected, collect" },
  { word: "casting", use: "replaySources", members: true },
  { word: "chain", use: "sealEntries", filesOnly: true },
  { word: "company", also: ["companies"], use: "AgentRegistry, AgentSource, agents", members: true },
  { word: "contained", use: "namespaceLaunch, sandboxed" },
  { word: "contextRoom", use: "compaction" },
  { word: "continued", use: "resumeTarget" },
  { word: "cutNotice", use: "truncation" },
  { word: "dearer", also: ["dearest"], use: "maxPrice" },
  { word: "fileRoom", use: "fileToolDeps" },
  { word: "flaw", also: ["flaws"], use: "integrityProblem, problem" },
  { word: "folders", use: "workspaces", under: /(?:runtime|tools)\/src\/folders/, filesOnly: true },
  { word: "fruitless", use: "poisonRun", members: true },
  { word: "gathered", use: "batchFeed, batch" },
  { word: "ground", use: "runWorkspace", members: true },
  { word: "hands", use: "tools, ToolHost", members: true },
  { word: "heard", use: "decoded, decodeMessage, received", members: true },
  { word: "hearsay", use: "childUpdates", members: true },
  { word: "honour", use: "compatibility, incompatibility", members: true },
  { word: "hushed", also: ["hush"], use: "redaction", members: true },
  { word: "inert", use: "trustPrompt" },
  { word: "instruments", use: "faultInjection" },
  { word: "judge", also: ["judges"], use: "checkPolicy" },
  { word: "keeper", also: ["keepers"], use: "reaper", members: true },
  { word: "kept", use: "checkpoint, saved, stored" },
  { word: "lookRound", use: "listHosts", members: true },
  { word: "lostPlace", use: "orphanedWorkspace" },
  { word: "mounts", use: "mountFlags", under: /sandbox/, filesOnly: true },
  { word: "nobody", also: ["somebody", "whoever", "whomever"], use: "the actor: user, host, caller, none" },
  { word: "opening", use: "openRun", filesOnly: true },
  { word: "pace", use: "timeSlice", members: true },
  { word: "pin", also: ["pins", "pinned"], use: "RunSpec, resolveRunSpec" },
  { word: "presence", use: "membership" },
  { word: "putBack", use: "restoreEntries", members: true },
  { word: "refusals", use: "invalidMessages", members: true },
  { word: "repeats", use: "loopDetection" },
  { word: "retrying", use: "retryEvent", filesOnly: true },
  { word: "room", also: ["rooms"], use: "compaction, capacity, space, or the shared parts by name", members: true },
  { word: "runVoice", also: ["voice"], use: "runEvents", members: true },
  { word: "said", use: "the noun: setting, output, reply, raw" },
  { word: "sameJournal", use: "journalIdentity" },
  { word: "seals", use: "thinkingSignatures", under: /anthropic/ },
  { word: "settleLost", use: "failOrphan" },
  { word: "stage", also: ["stages"], use: "replayState", under: /replay/ },
  { word: "standIn", also: ["standIns"], use: "placeholder" },
  { word: "standing", also: ["standings"], use: "the noun: health, journalHead, trustStatus, runStatus" },
  { word: "standstill", use: "idleWatch, idle", members: true },
  { word: "strays", also: ["stray"], use: "invalidMessages", members: true },
  { word: "sweep", also: ["sweeps"], use: "poll, pollTasks, removeLeftovers" },
  { word: "tally", also: ["tallies"], use: "usage" },
  { word: "touchedFiles", use: "changedFiles" },
  { word: "turnedAway", use: "retryable", members: true },
  { word: "turnstile", also: ["turnstiles"], use: "rateLimiter, replayGate", members: true },
  { word: "unasked", use: "notStarted", members: true },
  { word: "verdict", also: ["verdicts"], use: "outcome" },
  { word: "wish", also: ["wishes"], use: "command, RunRequestInput, requested", members: true },
  { word: "world", also: ["worlds"], use: "deps, HostDeps", members: true },
];

/** The banned words in a name, each as often as it stands there. */
export function bannedIn(name: string): BannedName[] {
  const parts = ` ${wordsOf(name).join(" ")} `;
  return matchers.flatMap(({ banned, pattern }) => (parts.match(pattern) ?? []).map(() => banned));
}

function wordsOf(name: string): string[] {
  const separated = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return separated
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
}

const matchers = bannedNames.map((banned) => {
  const forms = [banned.word, ...(banned.also ?? [])].map((form) => wordsOf(form).join(" "));
  return { banned, pattern: new RegExp(` (?:${forms.join("|")})(?= )`, "g") };
});
