import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Risk } from "@troupe/core/tool";
import { parseStrictYaml } from "@troupe/core/yaml";
import { z } from "zod";

/** The domains with patterns. Each has a file. */
export const intentDomains = ["gmail", "calendar", "contacts", "slack"] as const;
/** A file of patterns, named after the prefix of its tools. */
export const IntentDomain = z.enum(intentDomains);
export type IntentDomain = z.infer<typeof IntentDomain>;

/** The ways to read a parameter from the words of a request. */
export const ParamKind = z.enum([
  ...["line", "text", "word", "flag", "people", "channel"],
  // These read the whole request.
  ...["range", "eventTime", "minutes", "limit"],
] as const);
export type ParamKind = z.infer<typeof ParamKind>;

const Pattern = z.strictObject({
  /** Unique in its domain. */
  name: z.string(),
  pattern: z.string(),
  /** In the order of their calls. */
  tools: z.array(z.string()).min(1),
  risk: Risk,
  params: z.record(z.string(), ParamKind),
  /** Parameters without which the request cannot be carried out. */
  requires: z.array(z.string()).default([]),
});

/** The patterns of a domain. */
export const PatternFile = z.strictObject({
  domain: z.string().regex(/^[\w-]{1,64}$/, "is a word such as tickets"),
  /** A weekday without more words is the last one, as in a search, or the next one, as in a calendar. */
  times: z.enum(["past", "future"]).default("past"),
  /** Fragments by name, written `{name}` in a pattern. */
  words: z.record(z.string(), z.string()).default({}),
  /** Requests that no pattern of the file matches. */
  except: z.array(z.string()).default([]),
  patterns: z.array(Pattern).min(1),
});
export type PatternFile = z.input<typeof PatternFile>;

/** A pattern that is ready to match. */
export interface CompiledPattern extends Omit<z.output<typeof Pattern>, "pattern"> {
  expression: RegExp;
}

export interface CompiledFile extends Pick<z.output<typeof PatternFile>, "domain" | "times"> {
  except: RegExp[];
  patterns: CompiledPattern[];
}

const files = new Map<IntentDomain, CompiledFile>();

/** The patterns of a domain, read once. */
export function patternsOf(domain: IntentDomain): CompiledFile {
  const known = files.get(domain) ?? readPatternFile(new URL(`../../patterns/${domain}.yaml`, import.meta.url));
  files.set(domain, known);
  return known;
}

/** Reads a file of patterns. Throws if it is not valid. */
export function readPatternFile(file: URL): CompiledFile {
  const form = {
    schema: PatternFile,
    code: "INTERNAL",
    what: "a file of patterns",
    fixFor: () => "correct the file",
  } as const;
  return compilePatterns(parseStrictYaml(readFileSync(file, "utf8"), basename(file.pathname), form).value);
}

/** Makes patterns ready to match. Throws for an expression that is not valid. */
export function compilePatterns(file: PatternFile): CompiledFile {
  const { domain, times, words, except, patterns } = PatternFile.parse(file);
  return {
    domain,
    times,
    except: except.map((source) => new RegExp(source, "iu")),
    patterns: patterns.map(({ pattern, ...rest }) => ({
      ...rest,
      expression: new RegExp(numberGroups(expand(pattern, words)), "ius"),
    })),
  };
}

/** Replaces `{name}` by its fragment. Repetitions such as `{0,5}` stay. */
function expand(pattern: string, words: Readonly<Record<string, string>>): string {
  return pattern.replace(/\{([a-z]+)\}/g, (_, name: string) => {
    const fragment = words[name];
    if (fragment === undefined) throw new Error(`the pattern uses {${name}}, which is not among the words`);
    return fragment;
  });
}

/** A second group of a name gets a number, because names of groups are unique. */
function numberGroups(source: string): string {
  const counts = new Map<string, number>();
  return source.replace(/\(\?<([a-zA-Z]+\d*)>/g, (_, name: string) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? `(?<${name}>` : `(?<${name}0${count}>`;
  });
}
