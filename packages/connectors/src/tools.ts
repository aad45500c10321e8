/** The tools of an office alone. They load fast: a connector, and the libraries for words and files, load at their first use. */
export type { OfficeToolOptions } from "./tools/calls/tool-options.ts";
export { createOfficeTools } from "./tools/create-office-tools.ts";
