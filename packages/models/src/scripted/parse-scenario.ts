import { basename } from "node:path";
import { TroupeError } from "@troupe/core";
import { lineOf } from "@troupe/core/yaml";
import { type Document, LineCounter, parseDocument } from "yaml";
import { Scenario } from "./scenario.ts";

const problemsShown = 3;

interface Problem {
  /** Null where no line can be told. */
  line: number | null;
  message: string;
}

/** A scenario from its YAML. Throws `INVALID_SCENARIO` that names the file, and the line of each problem. */
export function parseScenario(text: string, file: string): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    throw invalid(
      file,
      document.errors.map(({ message, pos }) => ({
        line: lines.linePos(pos[0]).line,
        message: message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? message,
      })),
    );
  }
  const parsed = Scenario.safeParse(toValue(document, file));
  if (parsed.success) return parsed.data;
  throw invalid(
    file,
    parsed.error.issues.map(({ path, message }) => ({
      line: lineOf(document, path, lines),
      message: path.length > 0 ? `${path.join(".")}: ${message}` : message,
    })),
  );
}

/** Aliases that would grow into a bomb are refused here, by the library. */
function toValue(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalid(file, [{ line: null, message: error instanceof Error ? error.message : String(error) }]);
  }
}

/** One problem a line: further ones tend to follow from the first. */
function invalid(file: string, all: readonly Problem[]): TroupeError {
  const problems = all.filter(({ line }, i) => all.findIndex((other) => other.line === line) === i);
  const [first] = problems;
  const shown = problems
    .slice(0, problemsShown)
    .map(({ line, message }) => (line === null ? message : `line ${line}: ${message}`));
  const more = problems.length > problemsShown ? ` (and ${problems.length - problemsShown} more)` : "";
  const where = first?.line ? `line ${first.line} of ${basename(file)}` : basename(file);
  return new TroupeError("INVALID_SCENARIO", `${file} is not a scenario: ${shown.join("; ")}${more}`, {
    fix: `correct ${where}`,
  });
}
