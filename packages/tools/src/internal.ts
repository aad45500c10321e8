/** Names for troupe's own packages. They may change in any version; import from `@troupe/tools` instead. */

export { diffTexts } from "./files/text-diff.ts";
export { createHttpClient, type HttpClient } from "./http-client/http-client.ts";
export { parsePolicy } from "./policy/parse-policy.ts";
