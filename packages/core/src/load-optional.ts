import { errorCodeOf, TroupeError } from "./errors.ts";

/**
 * Loads a package that users install only if they need it. Throws `MISSING_PACKAGE` if it is not installed. The message
 * contains the command too, because some readers, such as a model, see only the message.
 *
 * @param install what npm installs: one or more packages, each with a version
 * @example
 * const { default: OpenAI } = await loadOptional("openai@7", () => import("openai"));
 */
export async function loadOptional<T>(install: string, load: () => T | Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const missing = install
      .split(" ")
      .map(nameOf)
      .find((name) => isMissing(name, cause));
    if (missing === undefined) throw cause;
    const fix = `npm install ${install}`;
    throw new TroupeError("MISSING_PACKAGE", `the package ${missing} is not installed; run: ${fix}`, { cause, fix });
  }
}

/** The name of `@scope/name@1.2`. */
function nameOf(spec: string): string {
  const at = spec.indexOf("@", 1);
  return at < 0 ? spec : spec.slice(0, at);
}

/** Node names the package only in the message. A file that is missing inside an installed package is another error. */
function isMissing(name: string, cause: unknown): boolean {
  if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(errorCodeOf(cause) ?? "") || !(cause instanceof Error)) return false;
  return [`Cannot find package '${name}'`, `Cannot find module '${name}'`, `Cannot find module '${name}/`].some(
    (start) => cause.message.startsWith(start),
  );
}
