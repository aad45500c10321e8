import type { Json, ToolSpec } from "@troupe/core";
import type { ToolResult } from "@troupe/core/tool";
import { type GlobMatcher, globMatcher } from "../search/glob-pattern.ts";

/** Names of files that hold keys and passwords in most projects. */
const secretNames: readonly string[] = [
  ...["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.kdbx", "**/*.keystore", "**/*.jks"],
  ...["**/id_{rsa,dsa,ecdsa,ed25519}", "**/.netrc", "**/.pgpass", "**/.htpasswd", "**/*credentials*", "**/secrets.*"],
  ...["**/*.tfstate", "**/*.tfvars", "**/.npmrc", "**/.pypirc"],
];

/** Examples of such files, which hold no secrets. */
const exampleNames: readonly string[] = ["**/*.{example,sample,template,dist}", "**/*.example.*"];

/** Groups of tools that read files without naming each one in their result. */
const readingGroups: readonly string[] = ["shell", "git", "test", "search", "code"];

/** Finds where private data in a result came from: files by their names, secrets by their form, files that the policy names. */
export type FindPrivateData = (
  result: ToolResult,
  call: { spec: Pick<ToolSpec, "name" | "groups">; args: Json; hasSecret: boolean },
) => string[];

/**
 * Creates the search for private data in results. A command does not say what it has read. So it counts if its text names
 * a file with secrets, and, where the policy names private files, always. The caller has looked for secrets already.
 */
export function createPrivateDataFinder(patterns: readonly string[]): FindPrivateData {
  const isNamed = anyOf(patterns);
  const isSecretFile = anyOf(secretNames);
  const isExample = anyOf(exampleNames);
  const isPrivate = (path: string): boolean => isNamed(path) || (isSecretFile(path) && !isExample(path));
  return (result, { spec: { name, groups }, args, hasSecret }) => {
    const canReadAll = groups.some((group) => readingGroups.includes(group));
    const read = [...(result.seen ?? []).map(({ path }) => path), ...(result.reads ?? [])];
    const paths = [...read, ...(canReadAll ? wordsOf(args) : [])].filter(isPrivate);
    return [
      ...(result.private ?? []),
      ...paths.map((path) => `file ${path}`),
      ...(hasSecret ? [`a secret in the output of ${name}`] : []),
      ...(canReadAll && patterns.length > 0 ? [`files that ${name} can read`] : []),
    ];
  };
}

/** The words in the arguments that may be paths. Quotes do not hide one: `cat ".env"`, `--file=.env`. */
function wordsOf(args: Json): string[] {
  if (typeof args === "string") return args.split(/[\s"'`=<>|&;:(){}$,\\]+/).filter(Boolean);
  if (typeof args !== "object" || args === null) return [];
  return Object.values(args).flatMap(wordsOf);
}

function anyOf(patterns: readonly string[]): GlobMatcher {
  const matchers = patterns.map((pattern) => globMatcher(pattern, { ignoreCase: true }));
  return (path) => matchers.some((matches) => matches(path));
}
