import {
  type ConnectGoogleOptions,
  type ConnectionStore,
  connectGoogle,
  openGoogle,
  type Person,
} from "@troupe/connectors";
import type { GoogleServer } from "./start-google-server.ts";

/** A browser that follows the page of the consent back to the loopback address. */
export async function visit(url: string): Promise<void> {
  await (await fetch(url)).text();
}

/** Connects a person as a user does, through the page of the consent. */
export async function connectAccount(
  server: GoogleServer,
  store: ConnectionStore,
  person: Person,
  options: Partial<ConnectGoogleOptions> = {},
) {
  const { id, secret } = server.oauth.client;
  server.oauth.consent = { email: person.address, name: person.name, scopes: server.oauth.consent.scopes };
  server.calendar.people.set(person.address, person.name);
  const visits: Promise<void>[] = [];
  const connected = await connectGoogle({
    store,
    client: { id, secret },
    baseUrl: server.url,
    showUrl: (url) => {
      visits.push(visit(url));
    },
    ...options,
  });
  await Promise.all(visits);
  return connected;
}

/** The connectors of a newly connected person. */
export async function openAccount(
  server: GoogleServer,
  store: ConnectionStore,
  person: Person,
  options: Partial<Parameters<typeof openGoogle>[0]> = {},
) {
  const { connection } = await connectAccount(server, store, person);
  const { mail, calendar, contacts } = await openGoogle({ store, id: connection.id, ...options });
  if (!mail || !calendar || !contacts) throw new Error("the account has not all domains");
  return { connection, mail, calendar, contacts };
}
