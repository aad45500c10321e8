import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { programOf, startServer } from "./server-process.ts";

/** The password of all users. */
export const davPassword = "calendar-password-1";

/** A server of CalDAV and CardDAV (Radicale). Each user writes the own collections, and reads those of others. */
export interface Radicale {
  url: string;
  /** A user with an empty calendar `work` and an empty address book `people`. */
  addUser(name: string): Promise<{ calendarUrl: string; bookUrl: string }>;
  /** A request of another program. */
  request(user: string, path: string, init: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

const rights = `
[principal]
user: .+
collection: {user}
permissions: RW
[own]
user: .+
collection: {user}/[^/]+
permissions: rw
[others]
user: .+
collection: [^/]+/[^/]+
permissions: r
[root]
user: .+
collection:
permissions: R
`;

export async function startRadicale(parent: string): Promise<Radicale> {
  const radicale = programOf("radicale", "radicale");
  const folder = join(parent, "radicale");
  const port = await freePort();
  await mkdir(join(folder, "collections"), { recursive: true });
  await writeFile(join(folder, "rights"), rights);
  await writeFile(join(folder, "users"), "");
  const sections = {
    server: { hosts: `127.0.0.1:${port}` },
    auth: { type: "htpasswd", htpasswd_filename: join(folder, "users"), htpasswd_encryption: "plain", delay: "0" },
    rights: { type: "from_file", file: join(folder, "rights") },
    storage: { filesystem_folder: join(folder, "collections") },
  };
  const lines = Object.entries(sections).flatMap(([name, values]) => [
    `[${name}]`,
    ...Object.entries(values).map(([key, value]) => `${key} = ${value}`),
  ]);
  const file = join(folder, "config");
  await writeFile(file, lines.join("\n"));
  const { stop } = await startServer(radicale, ["--config", file], [port]);
  const url = `http://127.0.0.1:${port}/`;
  const request: Radicale["request"] = async (user, path, init) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Basic ${Buffer.from(`${user}:${davPassword}`).toString("base64")}`);
    const response = await fetch(new URL(path, url), { ...init, headers });
    if (response.status >= 400) throw new Error(`${init.method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const users: string[] = [];
  return {
    url,
    stop,
    request,
    async addUser(name) {
      users.push(`${name}:${davPassword}`);
      await writeFile(join(folder, "users"), users.join("\n"));
      await request(name, `/${name}/events/`, { method: "MKCALENDAR" });
      await request(name, `/${name}/people/`, {
        method: "MKCOL",
        headers: { "content-type": "text/xml" },
        body: bookProps,
      });
      return { calendarUrl: `${url}${name}/events/`, bookUrl: `${url}${name}/people/` };
    },
  };
}

const bookProps = `<?xml version="1.0" encoding="UTF-8"?>
<mkcol xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">
  <set><prop><resourcetype><collection/><C:addressbook/></resourcetype><displayname>People</displayname></prop></set>
</mkcol>`;
