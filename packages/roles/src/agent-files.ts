import { dirname, join, resolve, sep } from "node:path";
import { type AgentDefinition, type GrantLayer, type ToolSpec, TroupeError } from "@troupe/core";
import {
  type AgentCheck,
  type AgentDraft,
  type AgentFileRow,
  type AgentFiles,
  type AgentForm,
  type AgentProblem,
  agentFileBytesMax,
  reachOf,
  toolChoiceOf,
  unknownAgent,
} from "@troupe/core/internal";
import {
  changed,
  createAgentFile,
  exists,
  type FilePlace,
  readAgentFile,
  removeAgentFile,
  replaceAgentFile,
} from "./agent-file-store.ts";
import { isAgentFileName } from "./agent-folder.ts";
import { applyAgentForm, readAgentForm } from "./agent-form.ts";
import { agentRows, type EditableFolders } from "./agent-rows.ts";
import { type AgentFileSource, type LoadedAgents, workspaceFolders } from "./agent-source.ts";
import { newAgentFile } from "./new-agent-file.ts";

export interface AgentFilesOptions {
  source: AgentFileSource;
  /** Folders of the user's agents. New files go to the last one, which wins. */
  userFolders: readonly string[];
  /** The tools of this machine and of a project. */
  specs(workspace: string | null): Promise<readonly ToolSpec[]>;
  policy: GrantLayer;
  /** Names that `model` can have. */
  models(workspace: string | null): Promise<readonly string[]>;
  /** Problems of models that this machine does not have. */
  modelProblems(agents: readonly AgentDefinition[], workspace: string | null): Promise<readonly AgentProblem[]>;
  /** Why the files of a project may not be changed. Null: the user trusts the project. */
  projectReason(workspace: string): Promise<string | null>;
  /** Accepts a project's file that was just written: the person who wrote it here may replace another definition. */
  accept(workspace: string, path: string): Promise<void>;
  diff(before: string, after: string): Promise<Pick<AgentCheck, "diff" | "linesAdded" | "linesRemoved">>;
}

/** The file of an agent with its text. */
interface OpenFile {
  id: string;
  path: string;
  /** The version on the disk; null for a new file. */
  version: string | null;
  /** The text on the disk; empty for a new file. */
  before: string;
  text: string;
}

/** The agents and tools of a project, read once for each request: a page repeats its requests while a person looks at it. */
interface Project extends LoadedAgents {
  workspace: string | null;
  specs: readonly ToolSpec[];
}

interface CheckedDraft {
  check: AgentCheck;
  place: FilePlace;
  isChanged: boolean;
}

/**
 * Lists, checks and changes the agent files of the user and of trusted projects. A name never becomes a path outside of the
 * agent folders, no link is followed, and a file that changed in the meantime stays as it is.
 *
 * @example
 * const files = createAgentFiles({ source, userFolders: ["/home/me/.troupe/agents"], ...options });
 * const { row, check } = await files.read("reviewer", null);
 * await files.save({ id: "reviewer", workspace: null, version: check.version, folder: "user", form: { ...check.form, model: "haiku" } });
 */
export function createAgentFiles(options: AgentFilesOptions): AgentFiles {
  const { source, policy } = options;
  let last: Promise<unknown> = Promise.resolve();
  /** One change at a time: two changes of one file must not both find the same version. */
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const turn = last.then(change, change);
    last = turn.catch(() => {});
    return turn;
  };

  const load = async (workspace: string | null): Promise<Project> => {
    const [loaded, specs] = await Promise.all([source.loadFiles(workspace), options.specs(workspace)]);
    return { workspace, specs, ...loaded };
  };
  const rowsOf = async (project: Project): Promise<AgentFileRow[]> =>
    agentRows(project, { policy, specs: project.specs, folders: await foldersOf(options, project.workspace) });
  const rowNamed = async (id: string, project: Project): Promise<AgentFileRow> => findRow(await rowsOf(project), id);
  const checkDraft = async (draft: AgentDraft): Promise<CheckedDraft> => {
    const { id } = draft;
    const placeOfNew = draft.version === null ? await newPlace(options, draft) : null;
    const project = await load(draft.workspace);
    const place = placeOfNew ?? (await ownPlace(id, project));
    const stored = await readAgentFile(place.path);
    if (draft.version === null && stored) throw exists(place.path);
    if (draft.version !== null && stored?.version !== draft.version) throw changed(place.path, stored);
    const base = stored?.text ?? (await newText(draft, project));
    const text = draft.text ?? (draft.form ? applyAgentForm(base, draft.form) : base);
    const opened = { id, path: place.path, version: draft.version, before: stored?.text ?? "", text };
    return { check: await examine(options, opened, project), place, isChanged: text !== stored?.text };
  };
  const newText = async ({ id, from }: AgentDraft, project: Project): Promise<string> => {
    if (from === undefined) return newAgentFile({ name: id });
    const { path, team, editing, reason } = await rowNamed(from, project);
    const copied = team === undefined && path.endsWith(".md") ? await readAgentFile(path) : null;
    if (copied === null || (editing === "none" && team !== undefined))
      throw forbidden(from, reason ?? "it has no file");
    return newAgentFile({ name: id, from: copied.text });
  };
  const ownPlace = async (id: string, project: Project): Promise<FilePlace> => {
    const { path, editing, reason } = await rowNamed(id, project);
    if (editing !== "file") throw forbidden(id, reason ?? "it has no file");
    const folder = options.userFolders.map((each) => resolve(each)).find((each) => path.startsWith(`${each}${sep}`));
    return { path, base: folder === undefined ? resolve(project.workspace ?? "") : dirname(folder) };
  };
  const read: AgentFiles["read"] = async (id, workspace) => {
    const project = await load(workspace);
    const row = await rowNamed(id, project);
    const hasFile = row.origin !== "remote" && row.path.endsWith(".md");
    const stored = hasFile ? await readAgentFile(row.path) : null;
    const text = stored?.text ?? "";
    const opened = { id, path: row.path, version: stored?.version ?? null, before: text, text };
    return { row, check: await examine(options, opened, project) };
  };

  return {
    async list(workspace) {
      const loaded = await load(workspace);
      const agents = await rowsOf(loaded);
      const project = workspace === null ? null : { path: workspace, reason: await options.projectReason(workspace) };
      const problems = await allProblems(options, loaded);
      const models = [...(await options.models(workspace))];
      return { agents, problems, tools: loaded.specs.map(toolChoiceOf), models, project };
    },
    read,
    check: async (draft) => (await checkDraft(draft)).check,
    save: (draft) =>
      inTurn(async () => {
        const { check, place, isChanged } = await checkDraft(draft);
        const error = check.problems.find(({ severity }) => severity === "error");
        if (error) {
          throw new TroupeError(
            "INVALID_AGENT",
            `nothing was written, because the file would be invalid: ${error.message}`,
            {
              ...(error.fix === null ? {} : { fix: error.fix }),
            },
          );
        }
        if (draft.version === null) await createAgentFile(place, check.text);
        else if (isChanged) await replaceAgentFile(place, draft.version, check.text);
        const { workspace } = draft;
        if (workspace !== null && place.base === resolve(workspace)) await options.accept(workspace, place.path);
        return await read(draft.id, draft.workspace);
      }),
    remove: (id, { workspace, version }) =>
      inTurn(async () => {
        const place = await ownPlace(id, await load(workspace));
        await removeAgentFile(place, version);
        return { id, path: place.path };
      }),
  };
}

/** Says what a text would make of a file: the difference, the problems and the reach of the agent. */
async function examine(
  options: AgentFilesOptions,
  { id, path, version, before, text }: OpenFile,
  now: Project,
): Promise<AgentCheck> {
  checkSize(path, text);
  const { specs } = now;
  const then: Project = { ...now, ...now.withDraft({ path, text }) };
  const parsed = then.files.find((file) => file.path === path);
  // A team can have an agent of another file as a member, under an id of its own.
  const isMember = parsed?.claimedId !== id && text === before;
  if (parsed?.definition && parsed.claimedId !== id && !isMember) throw renamed(id, parsed.claimedId);
  const [known, found] = await Promise.all([allProblems(options, now), allProblems(options, then)]);
  const keys = new Set(known.map(keyOf));
  // A file without front matter is a note beside the agents, which has no problems. Here it would delete an agent.
  const problems = parsed?.isNote ? [...parsed.problems] : found.filter((problem) => problem.path === path);
  const isUsable = !problems.some(({ severity }) => severity === "error");
  const definition = (isMember ? undefined : parsed?.definition) ?? then.registry.find(id) ?? null;
  const reach =
    definition && isUsable ? reachOf(definition, { tools: specs, agents: then.registry.agents }, options.policy) : null;
  return {
    ...{ id, path, version, text, ...formOf(text) },
    ...(await options.diff(before, text)),
    problems,
    otherProblems: found.filter((problem) => problem.path !== path && !keys.has(keyOf(problem))),
    reach,
  };
}

async function allProblems(
  options: AgentFilesOptions,
  { registry, specs, workspace }: Project,
): Promise<AgentProblem[]> {
  const ofModels = await options.modelProblems(registry.agents, workspace);
  return [...registry.problems, ...(registry.toolProblems?.(specs) ?? []), ...ofModels];
}

function keyOf({ path, code, message }: AgentProblem): string {
  return JSON.stringify([path, code, message]);
}

function formOf(text: string): { form: AgentForm | null; formProblem: string | null } {
  try {
    return { form: readAgentForm(text), formProblem: null };
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    return { form: null, formProblem: error.message };
  }
}

async function foldersOf(options: AgentFilesOptions, workspace: string | null): Promise<EditableFolders> {
  const user = options.userFolders.map((folder) => resolve(folder));
  if (workspace === null) return { user, project: [], projectReason: null };
  const project = workspaceFolders(resolve(workspace)).map(({ path }) => path);
  return { user, project, projectReason: await options.projectReason(workspace) };
}

/** The place of a new file: always `ID.md` in the folder, and an id has no separator and no dot. */
async function newPlace(options: AgentFilesOptions, { id, folder, workspace }: AgentDraft): Promise<FilePlace> {
  const name = `${id}.md`;
  if (!isAgentFileName(name)) {
    throw new TroupeError("USAGE", `${name} is never read as an agent file`, { fix: "choose another name" });
  }
  if (folder === "user") {
    const path = resolve(options.userFolders.at(-1) ?? "");
    return { path: join(path, name), base: dirname(path) };
  }
  if (workspace === null) {
    throw new TroupeError("USAGE", "a new file of a project needs the project", {
      fix: "send its folder as workspace",
    });
  }
  const reason = await options.projectReason(workspace);
  if (reason !== null) throw forbidden(id, reason);
  return { path: join(resolve(workspace), ".troupe", "agents", name), base: resolve(workspace) };
}

function findRow(rows: readonly AgentFileRow[], id: string): AgentFileRow {
  const row = rows.find((each) => each.id === id);
  if (row) return row;
  throw unknownAgent(
    id,
    rows.map((each) => each.id),
  );
}

function checkSize(path: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= agentFileBytesMax) return;
  throw new TroupeError("TOO_LARGE", `${path} would have ${bytes} bytes; the maximum is ${agentFileBytesMax}`, {
    fix: "shorten the prompt: every model call sends all of it",
  });
}

function renamed(id: string, claimed: string): TroupeError {
  return new TroupeError(
    "USAGE",
    `the text names the agent ${JSON.stringify(claimed)}, but this is the file of ${id}`,
    {
      fix: `keep the name, or make a copy with the new name and delete ${id}`,
    },
  );
}

function forbidden(id: string, reason: string): TroupeError {
  return new TroupeError("FORBIDDEN", `the file of ${id} cannot be changed here: ${reason}`, {
    fix: "make a copy, or edit the file with another program",
  });
}
