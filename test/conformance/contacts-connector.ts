import type { Contact, ContactsConnector } from "@troupe/connectors";
import { describe, expect, test } from "vitest";

export interface ContactsHarness extends AsyncDisposable {
  /** Contacts with exactly `sampleContacts`. */
  contacts: ContactsConnector;
}

/** The contacts that a harness has to hold. */
export const sampleContacts: readonly Omit<Contact, "id">[] = [
  person("Ana Ruiz", "ana@acme.example", "Acme Corp", "Head of Sales"),
  person("Béla Kovács", "bela@acme.example", "Acme Corp", "Engineer"),
  person("Chen Li", "chen@globex.example", "Globex", "Engineer"),
  person("Dana O'Neil", "dana@home.example", null, null),
  person("<img src=x> Eve", "eve@globex.example", "Globex", "50% _tester_"),
];

function person(name: string, email: string, organization: string | null, title: string | null): Omit<Contact, "id"> {
  return { name, emails: [email], phones: ["+49 30 123"], organization, title, note: "" };
}

/** The contract of the contacts port, tested on each adapter. */
export function contactsConformance(create: () => Promise<ContactsHarness>): void {
  describe("a search", () => {
    test.for([
      { query: {}, finds: ["<img src=x> Eve", "Ana Ruiz", "Béla Kovács", "Chen Li", "Dana O'Neil"] },
      { query: { text: "ana" }, finds: ["Ana Ruiz"] },
      { query: { text: "ru an" }, finds: ["Ana Ruiz"] },
      { query: { text: "kovacs" }, finds: ["Béla Kovács"] },
      { query: { text: "engineer acme" }, finds: ["Béla Kovács"] },
      { query: { text: "chen@globex.example" }, finds: ["Chen Li"] },
      { query: { text: "O'Neil" }, finds: ["Dana O'Neil"] },
      { query: { text: "zoe" }, finds: [] },
      { query: { organization: "Acme Corp" }, finds: ["Ana Ruiz", "Béla Kovács"] },
      { query: { organization: "acme" }, finds: ["Ana Ruiz", "Béla Kovács"] },
      { query: { organization: "%" }, finds: [] },
      { query: { organization: "globex", text: "chen" }, finds: ["Chen Li"] },
    ])("for $query", async ({ query, finds }) => {
      await using harness = await create();
      const { items } = await harness.contacts.searchContacts(query);
      expect(items.map(({ name }) => name)).toEqual(finds);
    });

    test("returns pages without gaps and repetitions", async () => {
      await using harness = await create();
      const names: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await harness.contacts.searchContacts({ limit: 2, cursor });
        names.push(...page.items.map(({ name }) => name));
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(names.toSorted()).toEqual(sampleContacts.map(({ name }) => name).toSorted());
    });

    test.for([{ limit: 0 }, { cursor: "x" }, { text: "x".repeat(201) }, { name: "x" }])("refuses %o", async (query) => {
      await using harness = await create();
      await expect(harness.contacts.searchContacts(query)).rejects.toMatchObject({ type: "params" });
    });
  });

  test("a contact is read by its id, whole", async () => {
    await using harness = await create();
    const [ana] = (await harness.contacts.searchContacts({ text: "ana" })).items;
    expect(await harness.contacts.getContact(ana?.id ?? "")).toEqual({ id: ana?.id, ...sampleContacts[0] });
    await expect(harness.contacts.getContact("none")).rejects.toMatchObject({ type: "params", param: "id" });
  });

  test("organizations have their domain and number of contacts", async () => {
    await using harness = await create();
    const acme = { name: "Acme Corp", domain: "acme.example", contactCount: 2 };
    const globex = { name: "Globex", domain: "globex.example", contactCount: 2 };
    const list = async (query: object) => (await harness.contacts.listOrganizations(query)).items;
    expect(await list({})).toEqual([acme, globex]);
    expect(await list({ text: "corp" })).toEqual([acme]);
    expect(await list({ text: "obex" })).toEqual([]);
    const first = await harness.contacts.listOrganizations({ limit: 1 });
    expect(first.items).toEqual([acme]);
    expect(await list({ limit: 1, cursor: first.nextCursor })).toEqual([globex]);
  });

  describe("the check of an address", () => {
    test.for([
      { address: "ana@acme.example", isValid: true, contact: "Ana Ruiz", suggestion: null },
      { address: " ANA@Acme.example ", isValid: true, contact: "Ana Ruiz", suggestion: null },
      { address: "zoe@elsewhere.example", isValid: true, contact: null, suggestion: null },
      { address: "anna@acme.example", isValid: true, contact: null, suggestion: "ana@acme.example" },
      { address: "ana@acmee.example", isValid: true, contact: null, suggestion: "ana@acme.example" },
      { address: "ana@", isValid: false, contact: null, suggestion: null },
      { address: "", isValid: false, contact: null, suggestion: null },
      { address: "ana@acme.example\r\nBcc: eve@evil.example", isValid: false, contact: null, suggestion: null },
      { address: "ana@acme.example, bela@acme.example", isValid: false, contact: null, suggestion: null },
      { address: `${"x".repeat(300)}@acme.example`, isValid: false, contact: null, suggestion: null },
    ])("$address", async ({ address, isValid, contact, suggestion }) => {
      await using harness = await create();
      const check = await harness.contacts.validateEmail(address);
      expect({ ...check, contact: check.contact?.name ?? null }).toMatchObject({ isValid, contact, suggestion });
      expect(check.reason === null).toBe(isValid);
    });
  });
}
