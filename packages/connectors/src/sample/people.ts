/** A person of the sample office. `handle` is unique. */
export interface SamplePerson {
  handle: string;
  name: string;
  title: string;
  /** Null: a colleague of the user. */
  organization: string | null;
  timeZone: string;
}

const colleague = (handle: string, name: string, title: string, timeZone = "Europe/Berlin"): SamplePerson => ({
  ...{ handle, name, title, timeZone },
  organization: null,
});
const outsider = (handle: string, name: string, title: string, organization: string): SamplePerson => ({
  ...{ handle, name, title, organization },
  timeZone: "America/New_York",
});

/** Colleagues of the user. The first five are the team. */
export const colleagues: readonly SamplePerson[] = [
  colleague("mara", "Mara Lindqvist", "Product Lead"),
  colleague("tomas", "Tomás Herrera", "Backend Engineer", "Europe/Madrid"),
  colleague("priya", "Priya Raman", "Designer", "Asia/Kolkata"),
  colleague("jonas", "Jonas Weber", "Mobile Engineer"),
  colleague("aiko", "Aiko Tanaka", "Data Analyst", "Asia/Tokyo"),
  colleague("ruth", "Ruth Okafor", "Head of Sales", "Europe/London"),
  colleague("leon", "Léon Dubois", "Account Manager", "Europe/Paris"),
  colleague("sofia", "Sofia Marques", "Finance Manager", "Europe/Lisbon"),
  colleague("greta", "Greta Nilsson", "People Partner"),
  colleague("omar", "Omar Haddad", "Support Lead"),
];

/** The handles of the user's own team. */
export const team: readonly string[] = colleagues.slice(0, 5).map(({ handle }) => handle);

/** People of other organizations. Their addresses end in `.example`, so that no mail can ever reach them. */
export const outsiders: readonly SamplePerson[] = [
  outsider("john", "John Carver", "Procurement Manager", "Acme Corp"),
  outsider("sarah", "Sarah Whitfield", "Head of Operations", "Acme Corp"),
  outsider("devin", "Devin Park", "IT Director", "Acme Corp"),
  outsider("nadia", "Nadia Petrova", "Partner Manager", "Globex"),
  outsider("carl", "Carl Jensen", "Legal Counsel", "Globex"),
  outsider("ines", "Inês Duarte", "Travel Agent", "Bluebird Travel"),
  outsider("victor", "Victor Osei", "Account Executive", "Northgate Hosting"),
];

/** The domain of an organization, such as `acme.example`. */
export function sampleDomain(organization: string): string {
  return `${organization.split(" ")[0]?.toLowerCase()}.example`;
}
