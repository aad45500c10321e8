const regularExpression = /^\/(.+)\/([a-z]*)$/s;

/** Whether a task fits a pattern: a part of it, or a regular expression between slashes. */
export function taskMatches(pattern: string, task: string): boolean {
  const [, source, flags] = regularExpression.exec(pattern) ?? [];
  // Compiled anew each time: an expression with state would answer differently the second time.
  return source === undefined ? task.includes(pattern) : new RegExp(source, flags).test(task);
}

/** Why a pattern cannot be used, or null. */
export function matcherProblem(pattern: string): string | null {
  try {
    taskMatches(pattern, "");
    return null;
  } catch (error) {
    return `not a regular expression: ${error instanceof Error ? error.message : error}`;
  }
}
