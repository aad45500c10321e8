/**
 * The model server as a process of its own: node test/harness/model-server/main.ts --scenario FILE --port 0 --key K
 * Prints its addresses as one line of JSON, and ends when it is told to.
 */
import { parseArgs } from "node:util";
import { loadScenario } from "@troupe/models";
import { startModelServer } from "./start-model-server.ts";

const { values } = parseArgs({
  options: {
    scenario: { type: "string" },
    port: { type: "string", default: "0" },
    key: { type: "string" },
    model: { type: "string", multiple: true, default: [] },
    root: { type: "string" },
  },
});
if (values.scenario === undefined) throw new Error("--scenario FILE is needed");

const server = await startModelServer({
  scenario: await loadScenario(values.scenario),
  port: Number(values.port),
  models: values.model,
  ...(values.key === undefined ? {} : { apiKey: values.key }),
  ...(values.root === undefined ? {} : { rootAgent: values.root }),
});
const { url, anthropicUrl, openaiUrl } = server;
process.stdout.write(`${JSON.stringify({ url, anthropicUrl, openaiUrl })}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
