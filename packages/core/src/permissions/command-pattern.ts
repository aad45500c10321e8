/** One command of a command line, such as `git log` in `git log | head`. */
export interface SimpleCommand {
  /** The program and its arguments. Null for a word that depends on variables, files or other commands. */
  words: readonly (string | null)[];
  /** Whether it sets variables: they can change the program's actions. */
  assigns: boolean;
  /** Whether it writes its output to a file. */
  writes: boolean;
}
