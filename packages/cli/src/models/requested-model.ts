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

/** The model that this shell's configuration adds to a request. */
export interface RequestedModel {
  /** Null: the owner of the home chooses; it reads the same files. */
  model: string | null;
  /** True if a script answers. */
  demo: boolean;
}

/**
 * The model to request from the owner of the home. The owner can have other variables than this shell, so a model from this
 * shell's variables is sent along. The demo never answers if a provider is configured here.
 */
export async function modelFor(cli: Cli, input: ModelInput, owner: RequestOwner): Promise<RequestedModel> {
  if (input.scenario !== null) return { model: null, demo: true };
  if (input.model !== null) return { model: input.model, demo: isOfflineModel(input.model) };
  const { demo } = await owner.client.status();
  const config = await configOf(cli, input);
  const model = owner.local ? null : modelFromVariables(config);
  if (model !== null) return { model, demo: isOfflineModel(model) };
  if (!demo) return { model: null, demo };
  const choice = chooseModel(config);
  // The owner knows only the demo, but a provider is configured here.
  return choice.demo ? { model: null, demo } : { model: choice.id, demo: false };
}

/** Warnings about the configuration. A scenario and a continued session do not use it. */
export async function configWarnings(cli: Cli, input: ModelInput): Promise<string[]> {
  return input.scenario !== null || input.continues !== null ? [] : (await configOf(cli, input)).warnings;
}

/** Explains the owner's refusal of a model that this shell has a provider for. */
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
  const origin = input.model !== null || config.model ? choice.origin : findProvider(config, choice.id)?.origin;
  const what = origin?.where
    ? `${origin.where} is set here, but`
    : `${JSON.stringify(choice.id)} is available here, but`;
  const message = `${what} the ${owner.kind} with pid ${owner.pid} was started with another configuration: ${error.message}`;
  return new TroupeError(error.code, message, { fix: `kill -INT ${owner.pid} && troupe up` });
}

function configOf(cli: Cli, { workspace }: ModelInput): Promise<Config> {
  return cli.composition.readConfig({ home: cli.home, env: cli.env, cwd: cli.cwd, workspace: workspace ?? cli.cwd });
}

/** The model from this shell's variables: by name, or the default of a provider that a variable configures. */
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
