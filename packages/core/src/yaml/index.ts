/** Settings files in YAML: strict schemas, and errors with their line. */
export { keysAt, lineOf, parseStrictYaml, type StrictYaml, type YamlForm } from "./strict-yaml.ts";
export { writeYaml } from "./write-yaml.ts";
