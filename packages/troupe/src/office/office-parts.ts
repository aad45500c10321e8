import type { Connectors } from "@troupe/connectors";
import { officeToolSpecs } from "@troupe/connectors/tool-specs";
import type { Clock, Logger, RequestHandler, RunError, ToolCall, ToolContext, ToolHost, ToolSpec } from "@troupe/core";
import { type AgentDefinition, TroupeError } from "@troupe/core";
import { handlerNames, loadOnce, namesTool } from "@troupe/core/internal";
import type { Tool } from "@troupe/core/tool";
import type { Cleanup } from "../cleanup.ts";
import type { OfficeSettings } from "../config/office-settings.ts";
import type { Home } from "../home/home.ts";
import { createHomeConnectors, type HomeConnectors } from "./home-connectors.ts";

export interface OfficePartsOptions {
  home: Home;
  settings: OfficeSettings;
  /** Connectors of the program. They win over those of the home. */
  given?: Partial<Connectors> | undefined;
  clock: Clock;
  logger: Logger;
}

/** The tools and handlers of the office. Only their specs and names load at the start. */
export interface OfficeParts {
  tools: readonly Tool[];
  handlers: readonly RequestHandler[];
  /** A host of these tools that loads them before their first call. */
  withTools(host: ToolHost): ToolHost;
}

export function openOfficeParts(options: OfficePartsOptions, cleanup: Cleanup): OfficeParts {
  const connectors = createHomeConnectors(options);
  cleanup.add(() => connectors.close());
  const tools = lazyTools(() => loadTools(options, connectors));
  const handlers = lazyHandlers(() => loadHandlers(options, connectors));
  return { ...tools, handlers: handlers.map((handler) => withSeedHint(handler, connectors)) };
}

async function loadTools(
  { settings, clock, logger }: OfficePartsOptions,
  connectors: HomeConnectors,
): Promise<readonly Tool[]> {
  const { createOfficeTools } = await import("@troupe/connectors/tools");
  const ownDomains = settings.domains?.value ?? null;
  return createOfficeTools({ connectors: () => connectors.open(), ownDomains, clock, logger });
}

/** A handler checks arguments with the schemas of the tools, which it does not call itself. */
async function loadHandlers(
  options: OfficePartsOptions,
  connectors: HomeConnectors,
): Promise<readonly RequestHandler[]> {
  const [{ createOfficeHandlers }, tools] = await Promise.all([
    import("@troupe/connectors"),
    loadTools(options, connectors),
  ]);
  const ownDomains = options.settings.domains?.value ?? null;
  return createOfficeHandlers({ connectors: () => connectors.open(), ownDomains, tools });
}

function lazyTools(load: () => Promise<readonly Tool[]>): Pick<OfficeParts, "tools" | "withTools"> {
  const specs = officeToolSpecs();
  const names = new Set(specs.map(({ name }) => name));
  let loaded: ReadonlyMap<string, Tool> = new Map();
  const loading = loadOnce(async () => {
    loaded = new Map((await load()).map((tool) => [tool.spec.name, tool]));
  });
  const toolOf = (name: string): Tool => {
    const tool = loaded.get(name);
    if (tool) return tool;
    throw new TroupeError("INTERNAL", `the tool ${name} was called before it was loaded`);
  };
  return {
    tools: specs.map((spec) => toolWith(spec, toolOf)),
    withTools: (host) => afterLoading(host, (call) => (names.has(call.name) ? loading.load() : null)),
  };
}

/** The tools of the office, for reading their specs. Their calls fail. */
export function describedOfficeTools(): Tool[] {
  const noTool = (name: string): Tool => {
    throw new TroupeError("INTERNAL", `the tool ${name} has no connectors here`);
  };
  return officeToolSpecs().map((spec) => toolWith(spec, noTool));
}

function toolWith(spec: ToolSpec, toolOf: (name: string) => Tool): Tool {
  return { spec, outputBytesMax: null, bind: (args, context) => toolOf(spec.name).bind(args, context) };
}

type CallMethod<Result> = (call: ToolCall, context: ToolContext) => Promise<Result>;

function afterLoading(host: ToolHost, ready: (call: ToolCall) => Promise<void> | null): ToolHost {
  const after =
    <Result>(method: CallMethod<Result>): CallMethod<Result> =>
    async (call, context) => {
      await ready(call);
      return await method(call, context);
    };
  return {
    ...host,
    run: after((call, context) => host.run(call, context)),
    plan: after((call, context) => host.plan(call, context)),
    verify: after((call, context) => host.verify(call, context)),
    ...(host.examine ? { examine: after(host.examine) } : {}),
    ...(host.reachOf ? { reachOf: after(host.reachOf) } : {}),
  };
}

function lazyHandlers(load: () => Promise<readonly RequestHandler[]>): RequestHandler[] {
  const handlers = loadOnce(load);
  const find = async (name: string): Promise<RequestHandler> => {
    const found = (await handlers.load()).find((handler) => handler.name === name);
    if (found) return found;
    throw new TroupeError("INTERNAL", `the connectors have no handler ${name}`);
  };
  return handlerNames.map((name) => ({
    name,
    assess: async (request) => (await find(name)).assess(request),
    next: async (state) => (await find(name)).next(state),
  }));
}

const seedHint =
  "the office has no data yet: fill it with a sample company (troupe office seed) or with your files (troupe office import)";

/** A request that fails in an office without data says how to fill it. */
function withSeedHint(handler: RequestHandler, connectors: HomeConnectors): RequestHandler {
  const explain = async (error: RunError): Promise<RunError> =>
    (await connectors.isEmpty()) ? { ...error, message: `${error.message}; ${seedHint}` } : error;
  return {
    name: handler.name,
    async assess(request) {
      const intent = await handler.assess(request);
      return intent?.problem ? { ...intent, problem: await explain(intent.problem) } : intent;
    },
    async next(state) {
      const step = await handler.next(state);
      if (step.kind === "failure" && !step.error.message.includes(seedHint)) {
        return { kind: "failure", error: await explain(step.error) };
      }
      if (step.kind !== "answer" || step.answer.missing.length === 0 || !(await connectors.isEmpty())) return step;
      return { kind: "answer", answer: { ...step.answer, missing: [...step.answer.missing, `Note: ${seedHint}.`] } };
    },
  };
}

/**
 * Whether an agent names a tool of the office. A worker without an office leaves such agents to other hosts: it would answer
 * from an empty office.
 */
export function needsOffice(
  { tools }: Pick<AgentDefinition, "tools">,
  specs: readonly ToolSpec[] = officeToolSpecs(),
): boolean {
  const items = (tools ?? []).filter((item) => item !== "*");
  return items.length > 0 && specs.some((spec) => namesTool(items, spec));
}
