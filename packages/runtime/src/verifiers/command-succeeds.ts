import type { BuiltinVerifier } from "./verifier.ts";

const outputShown = 500;

/** Checks that a command ends with exit code 0. It runs as the `shell` tool of the run, and can write nothing. */
export const commandSucceeds: BuiltinVerifier<"command-succeeds"> = async ({
  runTool,
  params: { command, timeoutMs, folder },
}) => {
  if (!runTool) return [`command-succeeds: no command can be run here, so ${JSON.stringify(command)} is not checked`];
  const args = { command, timeoutMs, ...(folder === undefined ? {} : { folder }) };
  const { error, output, inDoubt } = await runTool("shell", args);
  if (error === null && !inDoubt) return [];
  const end = output.slice(-outputShown).trim();
  return [`the command ${JSON.stringify(command)} did not succeed: ${error?.message ?? "in doubt"}\n${end}`];
};
