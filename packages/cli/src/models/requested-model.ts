import { type DaemonStatus, TroupeError } from "@troupe/core";
import { isOfflineModel } from "@troupe/core/internal";
import { type Config, chooseModel, findProvider, type ModelChoice, type OwnerInfo } from "troupe/internal";
import type { Cli } from "../cli.ts";

/** The parts of a run request that say which model answers. */
export interface ModelInput {
  model: string | null;
  scenario: string | null;
  workspace: string | null;
  continues: string | null;
}

/** The troupe that will run the request. */
interface RequestOwner {
  client: { status(): Promise<Pick<DaemonStatus, "demo">> };
  /** Null if another process runs it. */
  local: object | null;
}

/** What of this shell's own configuration goes along with a request. */
export interface RequestedModel {
  /** Null: the owner of the home decides, who reads the same files. */
  model: string | null;
  /** Whether only a script answers. */
  demo: boolean;
}

/**
 * The model to ask the owner of the home for. It may have been started with other variables than this shell has: what
 * they say here goes along, and a demo never answers whoever has something real set up.
 */
export async function modelFor(cli: Cli, input: ModelInput, owner: RequestOwner): Promise<RequestedModel> {
  if (input.scenario !== null) return { model: null, demo: true };
  if (input.model !== null) return { model: input.model, demo: isOfflineModel(input.model) };
  const { demo } = await owner.client.status();
  const config = await configOf(cli, input);
  const said = owner.local ? null : modelFromVariables(config);
  if (said !== null) return { model: said, demo: isOfflineModel(said) };
  if (!demo) return { model: null, demo };
  const choice = chooseModel(config);
  // Whatever the owner was started with: something real is set up by now, or in this folder.
  return choice.demo ? { model: null, demo } : { model: choice.id, demo: false };
}

/** What in the configuration does not count, or is dangerous. A script and a session that goes on need none of it. */
export async function configWarnings(cli: Cli, input: ModelInput): Promise<string[]> {
  return input.scenario !== null || input.continues !== null ? [] : (await configOf(cli, input)).warnings;
}

/** What a refusal means that the owner of the home has given for a model which this shell could ask. */
export async function explainRefusal(
  cli: Cli,
  input: ModelInput,
  owner: OwnerInfo,
  error: TroupeError,
): Promise<TroupeError> {
  const config = await configOf(cli, input);
  let choice: ModelChoice;
  try {
    choice = chooseModel(config, input.model);
  } catch {
    return error;
  }
  const said = input.model !== null || config.model ? choice.origin : findProvider(config, choice.id)?.origin;
  const what = said?.where ? `${said.where} is set here, but` : `${JSON.stringify(choice.id)} can be asked here, but`;
  const message = `${what} the ${owner.kind} with pid ${owner.pid} was started with another configuration: ${error.message}`;
  return new TroupeError(error.code, message, { fix: `kill -INT ${owner.pid} && troupe up` });
}

function configOf(cli: Cli, { workspace }: ModelInput): Promise<Config> {
  return cli.composition.readConfig({ home: cli.home, env: cli.env, cwd: cli.cwd, workspace: workspace ?? cli.cwd });
}

/** The model that this shell's variables ask for: by name, or because a key or an address stands in one. */
function modelFromVariables(config: Config): string | null {
  if (config.model) return config.model.origin.from === "environment" ? config.model.value : null;
  let choice: ModelChoice;
  try {
    choice = chooseModel(config);
  } catch {
    return null;
  }
  return findProvider(config, choice.id)?.origin.from === "environment" ? choice.id : null;
}
