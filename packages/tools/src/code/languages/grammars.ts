import type { Grammar } from "../syntax/grammar.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { javascript } from "./javascript.ts";
import { python } from "./python.ts";
import { rust } from "./rust.ts";

/** By the id of a language, which is also the name of the file that its grammar is in. */
export const grammars: Readonly<Record<string, Grammar>> = {
  typescript: javascript,
  tsx: javascript,
  javascript,
  python,
  go,
  rust,
  java,
};
