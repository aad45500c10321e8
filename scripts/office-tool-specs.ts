import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Writes `dist/tool-specs.json` of the connectors, at the end of their build. A process reads the specs of the office tools at
 * its start, and loads the tools themselves with their first call: making the schemas takes as long as a tenth of a short command.
 */
const dist = join(process.cwd(), "dist");
const { createOfficeTools } = await import(pathToFileURL(join(dist, "tools.js")).href);
const noConnectors = () => Promise.reject(new Error("these tools are for reading their specs"));
const tools: { spec: unknown }[] = createOfficeTools({ connectors: noConnectors });
writeFileSync(join(dist, "tool-specs.json"), JSON.stringify(tools.map(({ spec }) => spec)));
