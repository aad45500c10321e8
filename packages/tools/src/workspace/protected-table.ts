/**
 * The protection of a file that other programs run or obey later.
 *
 * - `never`: no agent writes it, neither by a file tool nor by a command.
 * - `asks`: a file tool writes it after a person has approved the call. Commands only read it.
 * - `marked`: agents write it like any file, and the change says that it runs later.
 */
export type ProtectionClass = "never" | "asks" | "marked";

export interface ProtectedRow {
  class: ProtectionClass;
  /**
   * Paths that count at any depth, as a folder or as a file, with everything below. `*` is any text within one name. All
   * names are in lower case, because file systems may ignore the case.
   */
  names: readonly string[];
  /** Follows the path in a sentence. */
  reason: string;
  /**
   * While a command runs, an empty folder takes the place of a missing path at the workspace's top. A folder there must
   * disturb no program. Other missing paths are removed after a command that made them.
   */
  isHeldWhileMissing?: true;
}

export interface RepositoryRow extends Pick<ProtectedRow, "names" | "reason"> {
  /** A command may leave such a file, because git writes it in ordinary work, unless this matches its content. */
  harmful?: RegExp;
}

/** The one list for file tools, sandboxes and displays. README.md shows it; a test compares the two. */
export const protectedTable: readonly ProtectedRow[] = [
  {
    class: "never",
    names: [".troupe", ".claude", ".mcp.json", ".vscode", ".idea", ".husky", ".envrc"],
    reason: "controls agents, editors and hooks of this machine",
    isHeldWhileMissing: true,
  },
  {
    class: "never",
    names: [
      ...[".cursor", ".gemini", ".codex", ".roo", ".windsurf", ".continue", ".cline", ".kiro", ".qwen", ".opencode"],
      ...["opencode.json", "opencode.jsonc", ".crush.json", "crush.json", ".aider.conf.yml", ".roomodes"],
    ],
    reason: "tells other agents which programs to start and what to allow",
  },
  {
    class: "never",
    names: [".zed", ".fleet", ".vs", "*.code-workspace", "*.sublime-project"],
    reason: "has tasks and programs that an editor starts",
  },
  {
    class: "never",
    names: [
      ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion", ".profile"],
      ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".oh-my-zsh", ".kshrc", ".mkshrc", ".cshrc"],
      ...[".tcshrc", ".login", ".logout", ".inputrc", ".config/fish", ".config/zsh", ".config/nushell"],
    ],
    reason: "runs when a shell starts",
  },
  {
    class: "never",
    names: [
      ...[".pam_environment", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".config/environment.d"],
      ...[
        ".config/systemd",
        ".local/share/systemd",
        ".config/autostart",
        ".config/plasma-workspace",
        ".config/upstart",
      ],
      ...[
        ".config/i3",
        ".config/sway",
        ".config/hypr",
        "library/launchagents",
        ".local/bin",
        ".local/share/applications",
      ],
    ],
    reason: "runs when a user logs in, or is found before other programs",
  },
  {
    class: "never",
    names: [".ssh", ".gnupg", ".gitconfig", ".config/git"],
    reason: "decides about keys, and about programs that git and ssh start",
  },
  {
    class: "asks",
    names: [
      ...[".exrc", ".nvimrc", ".nvim.lua", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc", ".vim", ".emacs", ".emacs.d"],
      ...[".dir-locals.el", ".dir-locals-2.el", ".spacemacs", ".helix", ".nova", ".tmux.conf", ".screenrc"],
      ...[".wezterm.lua", ".config/vim", ".config/nvim", ".config/emacs", ".config/helix", ".config/zed"],
      ...[".config/tmux", ".config/kitty", ".config/alacritty", ".config/wezterm", ".config/code"],
    ],
    reason: "runs when an editor or a terminal starts",
  },
  {
    class: "asks",
    names: [
      ...[".gdbinit", ".gdbearlyinit", ".lldbinit", ".pdbrc", ".pdbrc.py", ".rprofile", ".renviron", ".irbrc"],
      ...[".pryrc", ".ghci", ".psqlrc", ".sqliterc", ".ipython", ".jupyter", "sitecustomize.py", "usercustomize.py"],
    ],
    reason: "runs when a debugger or an interpreter starts",
  },
  {
    class: "asks",
    names: [
      ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/releases", ".yarn/plugins", ".pnpmfile.cjs", ".pnpmfile.mjs"],
      ...["bunfig.toml", ".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml", ".mvn"],
      ...[".gradle/init.d", ".gradle/init.gradle", ".bazelrc", ".bazelversion", ".buckconfig", ".gemrc", ".condarc"],
      ...[".pip", ".config/pip", ".pydistutils.cfg"],
    ],
    reason: "decides what a package manager or build program downloads and runs",
  },
  {
    class: "asks",
    names: [
      ...["flake.nix", "shell.nix", "devenv.nix", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml"],
      ...[".mise", "mise/config.toml", ".config/mise", ".config/mise.toml", ".rtx.toml", ".tool-versions", ".asdfrc"],
      ...[".direnvrc", ".config/direnv", ".devcontainer", ".devcontainer.json"],
    ],
    reason: "sets up programs when a user enters the folder",
  },
  {
    class: "asks",
    names: [
      ...["lefthook*.yml", ".lefthook*.yml", "lefthook*.yaml", ".lefthook*.yaml", "lefthook*.toml", ".lefthook*.toml"],
      ...["lefthook*.json", ".lefthook*.json", "lefthook*.jsonc", ".lefthook*.jsonc", ".lefthook", ".lefthook-local"],
      ...[".pre-commit-config.yaml", ".pre-commit-config.yml", ".lintstagedrc", ".lintstagedrc.*"],
      ...["lint-staged.config.*", ".huskyrc", ".huskyrc.*", ".githooks", ".git-hooks", ".overcommit.yml"],
      ...[".simple-git-hooks.*", "simple-git-hooks.*"],
    ],
    reason: "runs at the user's next commit",
  },
  {
    class: "marked",
    names: [
      ...[".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitlab/ci", ".circleci", ".buildkite"],
      ...[".forgejo/workflows", ".gitea/workflows", ".woodpecker", ".woodpecker.yml", ".drone.yml", ".travis.yml"],
      ...["jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", ".cirrus.yml"],
    ],
    reason: "runs on a build server after a push",
  },
  {
    class: "marked",
    names: [
      ...["agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "crush.md"],
      ...[
        ".github/copilot-instructions.md",
        ".github/instructions",
        ".github/prompts",
        ".github/agents",
        ".cursorrules",
      ],
      ...[".windsurfrules", ".clinerules", ".roorules", ".goosehints", ".agents"],
    ],
    reason: "is read as instructions by later agents",
  },
  {
    class: "marked",
    names: ["conftest.py", "*.pth", "gradlew", "gradlew.bat", "gradle/wrapper", "mvnw", "mvnw.cmd"],
    reason: "runs with the next tests or build",
  },
];

/**
 * Parts of a repository, relative to its `.git` folder or to a bare repository. They are `never`. Every commit changes
 * the rest.
 */
export const protectedInRepository: readonly RepositoryRow[] = [
  { names: ["hooks"], reason: "has programs that git runs" },
  {
    names: ["config", "config.worktree", "info/attributes", "modules", "worktrees/*/config.worktree"],
    reason: "names programs that git runs",
  },
  // A `commondir` names another repository, with its own settings and hooks.
  { names: ["commondir"], reason: "leads git to another repository" },
  { names: ["worktrees/*/commondir"], reason: "leads git to another repository", harmful: /^(?!\.\.\/\.\.\n?$)/ },
  { names: ["objects/info/alternates", "remotes", "branches"], reason: "leads git to another repository" },
  {
    names: ["rebase-merge/git-rebase-todo", "worktrees/*/rebase-merge/git-rebase-todo"],
    reason: "has commands that the user's next rebase runs",
    harmful: /^\s*(?:x|exec)\b/m,
  },
  {
    names: ["rebase-merge/strategy", "worktrees/*/rebase-merge/strategy"],
    reason: "names a program that the user's next rebase runs",
    harmful: /^(?!(?:ort|recursive|resolve|octopus|ours|subtree)\n?$)/,
  },
  {
    names: ["sequencer/opts", "worktrees/*/sequencer/opts"],
    reason: "names programs that the user's next cherry-pick runs",
    harmful: /strategy|gpg/i,
  },
];

/** A folder with all names of one line is a repository for git, whatever its own name is. */
export const repositoryPieces: readonly (readonly string[])[] = [
  ["HEAD", "objects", "refs"],
  ["HEAD", "commondir"],
];
