import type { FileParts } from "./front-matter.ts";
import { salvageFields } from "./recover-fields.ts";
import type { Report } from "./report.ts";
import { type Fields, readYaml } from "./yaml-fields.ts";

/**
 * The keys of the front matter. Where it is not valid YAML, as many agent files in the wild are not, its keys are
 * read one by one. Null when nothing could be read: the report says why.
 */
export function readFields(parts: FileParts, report: Report): Fields | null {
  const read = readYaml(parts.yaml, parts.yamlOffset);
  if ("failure" in read) return salvageFields(parts, read.failure, report);
  for (const { key, offset } of read.duplicates) {
    report.error(offset, {
      code: "duplicate-key",
      message: `${key} is given twice`,
      fix: `remove one of the two ${key} lines`,
    });
  }
  if (read.aliasOffset !== null) {
    report.error(read.aliasOffset, {
      code: "yaml-alias",
      message: "the front matter uses a YAML alias; agent files may not",
      fix: "write the value out where the alias (*) stands",
    });
    return null;
  }
  if (read.fields === null) {
    report.error(read.startOffset, {
      code: "not-a-mapping",
      message: "the front matter is not a list of keys and values",
      fix: "write lines such as name: my-agent",
    });
  }
  return read.fields;
}
