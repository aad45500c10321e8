import { dirname } from "node:path";
import type { GitIdentity } from "./git-identity.ts";

/** Settings for every repository, whatever its own configuration says. */
const fixedConfig: Readonly<Record<string, string>> = {
  "safe.directory": "*",
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.pager": "cat",
  "core.editor": "true",
  "sequence.editor": "true",
  "core.askPass": "true",
  "core.sshCommand": "ssh",
  "core.alternateRefsCommand": "true",
  "core.quotePath": "false",
  "credential.helper": "",
  "interactive.diffFilter": "cat",
  "commit.gpgSign": "false",
  "tag.gpgSign": "false",
  "push.gpgSign": "false",
  "log.showSignature": "false",
  "merge.verifySignatures": "false",
  "gpg.program": "false",
  "gpg.openpgp.program": "false",
  "gpg.x509.program": "false",
  "gpg.ssh.program": "false",
  "gpg.ssh.defaultKeyCommand": "false",
  // A submodule has its own configuration, which could override these settings.
  "submodule.recurse": "false",
  "fetch.recurseSubmodules": "false",
  "push.recurseSubmodules": "no",
  "diff.submodule": "short",
  "diff.ignoreSubmodules": "dirty",
  "status.submoduleSummary": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "protocol.ext.allow": "never",
  "color.ui": "false",
};

/** Configuration keys that name a program, under a name that the repository chooses, with a harmless value for each. */
const programKeys: readonly { pattern: RegExp; harmless: string; isFilter?: true }[] = [
  { pattern: /^filter\..*\.(clean|smudge|process)$/s, harmless: "", isFilter: true },
  { pattern: /^filter\..*\.required$/s, harmless: "false", isFilter: true },
  { pattern: /^diff\.external$/, harmless: "true" },
  { pattern: /^diff\..*\.command$/s, harmless: "true" },
  { pattern: /^diff\..*\.textconv$/s, harmless: "cat" },
  { pattern: /^merge\..*\.driver$/s, harmless: "false" },
  { pattern: /^hook\..*\.command$/s, harmless: "true" },
  { pattern: /^trailer\..*\.(command|cmd)$/s, harmless: "true" },
  { pattern: /^core\.gitproxy$/, harmless: "none" },
  { pattern: /^remote\..*\.uploadpack$/s, harmless: "git-upload-pack" },
  { pattern: /^remote\..*\.receivepack$/s, harmless: "git-receive-pack" },
  { pattern: /^submodule\..*\.update$/s, harmless: "checkout" },
];

/** Names of the filters (such as Git LFS) that the repository's configuration gives a program. */
export function filtersOf(configKeys: readonly string[]): string[] {
  const names = configKeys.map((key) => /^filter\.(.*)\.(?:clean|smudge|process)$/s.exec(key)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

export interface GitEnvironmentOptions {
  workspace: string;
  /** Keys of the repository's configuration. */
  configKeys: readonly string[];
  identity?: GitIdentity | null;
  /** Whether the programs of its filters may run. @default false */
  filters?: boolean;
  /** Whether git may contact other repositories. @default false */
  remotes?: boolean;
  /** Whether git may refresh the index while it reads. @default false */
  locks?: boolean;
}

/**
 * An environment in which git reads only the repository's own configuration, and runs no program that it names. A
 * repository is untrusted data.
 */
export function gitEnvironment(options: GitEnvironmentOptions): Record<string, string> {
  const { workspace, configKeys, identity = null, filters = false, remotes = false, locks = false } = options;
  return {
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
    GIT_EDITOR: "true",
    GIT_SEQUENCE_EDITOR: "true",
    GIT_NO_LAZY_FETCH: "1",
    // A repository above the workspace does not belong to the workspace.
    GIT_CEILING_DIRECTORIES: dirname(workspace),
    ...(locks ? {} : { GIT_OPTIONAL_LOCKS: "0" }),
    // A partial clone would fetch missing objects with programs that its configuration names.
    GIT_ALLOW_PROTOCOL: remotes ? "https:http:ssh:git:file" : "none",
    ...(identity ? identityVariables(identity) : {}),
    ...configVariables({ ...fixedConfig, ...harmlessConfig(configKeys, filters) }),
  };
}

function harmlessConfig(keys: readonly string[], filters: boolean): Record<string, string> {
  // Git would read a submodule with the submodule's own configuration.
  const submodules = keys.map((key) => /^submodule\.(.+)\.[^.]+$/s.exec(key)?.[1]).filter((name) => name !== undefined);
  const harmless = Object.fromEntries(submodules.map((name) => [`submodule.${name}.ignore`, "dirty"]));
  for (const key of keys) {
    const found = programKeys.find(({ pattern }) => pattern.test(key));
    if (found && !(found.isFilter && filters)) harmless[key] = found.harmless;
  }
  return harmless;
}

/** Configuration as environment variables: it overrides all files and reaches the git programs that git starts. */
function configVariables(config: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(config);
  const variables = entries.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(variables) };
}

function identityVariables({ name, email }: GitIdentity): Record<string, string> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}
