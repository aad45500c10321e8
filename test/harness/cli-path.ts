import { fileURLToPath } from "node:url";

/** The built command line. */
export const cliPath = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
