/** Settings files in YAML: strict schemas, problems with their line. */
export { keysAt, parseStrictYaml, type StrictYaml, type YamlForm } from "./strict-yaml.ts";
export { lineOf } from "./yaml-lines.ts";
