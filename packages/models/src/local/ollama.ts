import { z } from "zod";
import { type Asking, getJson } from "./get-json.ts";
import type { LocalModel, LocalServer } from "./local-model.ts";

const Version = z.object({ version: z.string() });
const Tags = z.object({ models: z.array(z.object({ name: z.string() })) });
const Running = z.object({
  models: z.array(z.object({ name: z.string(), context_length: z.int().positive().nullish().catch(null) })),
});
const Shown = z.object({
  capabilities: z.array(z.string()).nullish().catch(null),
  parameters: z.string().nullish().catch(null),
  model_info: z.record(z.string(), z.unknown()).nullish().catch(null),
});

/** How many models are asked for one by one. */
const modelsMax = 50;

/** The server at this address, if it is Ollama. */
export async function probeOllama(origin: string, asking: Asking): Promise<LocalServer | null> {
  const version = Version.safeParse(await getJson(`${origin}/api/version`, asking)).data?.version;
  if (version === undefined) return null;
  const tags = Tags.safeParse(await getJson(`${origin}/api/tags`, asking)).data?.models ?? [];
  const named = tags.slice(0, modelsMax).map(({ name }) => showOllamaModel(origin, name, asking));
  const models = (await Promise.all(named)).filter((model) => model !== null);
  return { kind: "ollama", version, models };
}

/**
 * One model. What it is run with now counts before what its Modelfile wants; where neither is said, it is the server's
 * own setting, which no client can ask for.
 */
export async function showOllamaModel(origin: string, name: string, asking: Asking): Promise<LocalModel | null> {
  const [told, running] = await Promise.all([
    getJson(`${origin}/api/show`, asking, { model: name }),
    getJson(`${origin}/api/ps`, asking),
  ]);
  const shown = Shown.safeParse(told).data;
  if (!shown) return null;
  const { capabilities, parameters, model_info } = shown;
  const loaded = Running.safeParse(running).data?.models.find((model) => isSame(model.name, name))?.context_length;
  const wanted = /^num_ctx\s+(\d+)/m.exec(parameters ?? "")?.[1];
  const longest = Object.entries(model_info ?? {}).find(([key]) => key.endsWith(".context_length"))?.[1];
  return {
    name,
    tools: capabilities ? capabilities.includes("tools") : null,
    contextTokens: loaded ?? (wanted === undefined ? null : Number(wanted)),
    contextTokensMax: typeof longest === "number" ? longest : null,
  };
}

/** A name without a tag is the one tagged `latest`. */
function isSame(one: string, other: string): boolean {
  const tagged = (name: string): string => (name.includes(":") ? name : `${name}:latest`);
  return tagged(one) === tagged(other);
}
