import { readFile } from "node:fs/promises";
import { errorCodeOf } from "@troupe/core/internal";
import { z } from "zod";
import { ConnectorError } from "../ports/connector-error.ts";

/** An OAuth client of the user's own project at Google. */
export interface GoogleClient {
  id: string;
  secret: string;
}

const fields = z.object({ client_id: z.string().min(1), client_secret: z.string().min(1) });
/** The file that Google offers for download. */
const ClientFile = z.object({ installed: fields });

/**
 * Reads the OAuth client of `TROUPE_GOOGLE_CLIENT_ID` and `TROUPE_GOOGLE_CLIENT_SECRET`, or of a file from Google. Throws
 * `params` if there is none: `googleClientSteps` lists how to make one.
 *
 * @param file the path of the JSON file; null: the variables, or the file of `TROUPE_GOOGLE_CLIENT_FILE`
 * @example
 * const client = await readGoogleClient({ env: process.env, file: null });
 */
export async function readGoogleClient({
  env,
  file,
}: {
  env: NodeJS.ProcessEnv;
  file: string | null;
}): Promise<GoogleClient> {
  const { TROUPE_GOOGLE_CLIENT_ID: id, TROUPE_GOOGLE_CLIENT_SECRET: secret } = env;
  if (file === null && id && secret) return { id, secret };
  const path = file ?? env.TROUPE_GOOGLE_CLIENT_FILE;
  if (path) return await readClientFile(path);
  const lacking = id ? "TROUPE_GOOGLE_CLIENT_SECRET is" : secret ? "TROUPE_GOOGLE_CLIENT_ID is" : "an OAuth client is";
  throw new ConnectorError("params", `${lacking} missing`, {
    param: "client",
    fix: "set TROUPE_GOOGLE_CLIENT_ID and TROUPE_GOOGLE_CLIENT_SECRET, or pass --client FILE",
  });
}

/** The steps by which a user makes an OAuth client, once. */
export const googleClientSteps: readonly string[] = [
  "open https://console.cloud.google.com and create a project",
  "in APIs & Services, Library: enable the Gmail API, the Google Calendar API and the People API",
  "in OAuth consent screen: choose External, and add your address as a test user",
  "in Credentials: create an OAuth client ID of the type Desktop app, and download its JSON file",
];

async function readClientFile(path: string): Promise<GoogleClient> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const reason = errorCodeOf(cause) === "ENOENT" ? "it does not exist" : (errorCodeOf(cause) ?? String(cause));
    throw wrongFile(path, `cannot be read: ${reason}`);
  }
  const parsed = z.preprocess(parseJson, ClientFile).safeParse(text);
  if (parsed.success) return { id: parsed.data.installed.client_id, secret: parsed.data.installed.client_secret };
  const isWeb = text.includes('"web"');
  throw wrongFile(path, isWeb ? "is a client of the type Web application" : "is not the JSON file of an OAuth client");
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}

function wrongFile(path: string, problem: string): ConnectorError {
  return new ConnectorError("params", `the client file ${path} ${problem}`, {
    param: "client",
    fix: "download the JSON file of an OAuth client of the type Desktop app, at console.cloud.google.com, Credentials",
  });
}
