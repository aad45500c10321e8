import { type GoogleReply, type GoogleRequest, invalidPageToken, ok, pageOf, refuse } from "./google-reply.ts";

/** A person as the People API returns one. */
export interface GooglePerson {
  resourceName: string;
  names?: { displayName: string }[];
  emailAddresses?: { value: string }[];
  phoneNumbers?: { value: string }[];
  organizations?: { name: string; title?: string }[];
}

export interface PeopleServer {
  connections: GooglePerson[];
  otherContacts: GooglePerson[];
  /** Google returns at most 1,000 people in one page. */
  pageSizeMax: number;
  handle(request: GoogleRequest): GoogleReply;
}

export function createPeopleServer(): PeopleServer {
  return {
    connections: [],
    otherContacts: [],
    pageSizeMax: 1_000,
    handle({ path, query }) {
      const isOwn = path === "/v1/people/me/connections";
      if (!query.has(isOwn ? "personFields" : "readMask"))
        return refuse(400, "invalidArgument", "personFields is required");
      const asked = Number(query.get("pageSize") ?? 100);
      query.set("pageSize", `${Math.min(asked, this.pageSizeMax)}`);
      const page = pageOf(isOwn ? this.connections : this.otherContacts, query, {
        sizeParam: "pageSize",
        sizeDefault: 100,
      });
      if (page === null) return invalidPageToken();
      const { items, ...next } = page;
      return ok({ [isOwn ? "connections" : "otherContacts"]: items, ...next });
    },
  };
}
