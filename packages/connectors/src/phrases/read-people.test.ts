/** People of a request, by the contacts of the sample office. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { putContact } from "../local/contacts/contact-store.ts";
import { type LocalOffice, openLocalOffice } from "../local/open-local-office.ts";
import { seedOffice } from "../sample/seed-office.ts";
import { readPeople, splitNames } from "./read-people.ts";

const user = { name: "Kim", address: "kim@lantern.example" };
let folder: string;
let office: LocalOffice;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-people-"));
  office = openLocalOffice({ folder, user, timeZone: "Etc/UTC" });
  seedOffice(office);
  const plain = { phones: [], organization: null, title: null, note: "" };
  putContact(office.account.database, { ...plain, uid: "1", name: "John Miller", emails: ["miller@home.example"] });
  putContact(office.account.database, { ...plain, uid: "2", name: "Quiet Person", emails: [] });
});
afterAll(async () => {
  office.close();
  await rm(folder, { recursive: true });
});

const read = (text: string) => readPeople(text, { contacts: office.contacts, user, groups: { board: [user] } });

describe("people", () => {
  it.each([
    ["sarah@acme.example", ["sarah@acme.example"]],
    ["john@acme.example and Sarah Whitfield", ["john@acme.example", "sarah@acme.example"]],
    ["Mara, Tomás and Jonas", ["mara@lantern.example", "tomas@lantern.example", "jonas@lantern.example"]],
    ["tomas", ["tomas@lantern.example"]],
    ["New Person <new@elsewhere.example>", ["new@elsewhere.example"]],
    ["Mara, mara@lantern.example", ["mara@lantern.example"]],
    ["people at Acme Corp", ["devin@acme.example", "john@acme.example", "sarah@acme.example"]],
    ["Acme's contacts", ["devin@acme.example", "john@acme.example", "sarah@acme.example"]],
    ["the board", ["kim@lantern.example"]],
  ])("%s", async (text, addresses) => {
    expect((await read(text)).people.map(({ address }) => address)).toEqual(addresses);
  });

  it("of the team are the contacts with the user's domain, and the answer says so", async () => {
    const { people, assumptions } = await read("the team");
    expect(people).toHaveLength(10);
    expect(assumptions).toEqual(["the team is read as the 10 contacts at lantern.example"]);
  });

  it("by a first name are stated", async () => {
    expect((await read("Sarah")).assumptions).toEqual(["Sarah is read as Sarah Whitfield <sarah@acme.example>"]);
    expect((await read("Sarah Whitfield")).assumptions).toEqual([]);
  });

  it.each([
    ["John", "John Carver <john@acme.example>, John Miller <miller@home.example>"],
    ["Zoe", 'no contact is called "Zoe"'],
    ["sarah@", "is not a mail address"],
    ["a@b.example\r\nBcc: c@d.example", "is not a mail address"],
    ["Quiet Person", "has no mail address"],
    ["", "names no person"],
    [" , and ", "names no person"],
  ])("%j is refused", async (text, reason) => {
    await expect(read(text)).rejects.toMatchObject({ type: "params", param: "people" });
    await expect(read(text)).rejects.toThrow(reason);
  });
});

it.each([
  ["John, Sarah and Bob", ["John", "Sarah", "Bob"]],
  ["John, Sarah, and Bob.", ["John", "Sarah", "Bob"]],
  ["a@x.example; b@x.example", ["a@x.example", "b@x.example"]],
  ["Sandy Anderson & Andy", ["Sandy Anderson", "Andy"]],
  ["with Ana plus Bob", ["Ana", "Bob"]],
  ["", []],
])("splits %j", (text, names) => {
  expect(splitNames(text)).toEqual(names);
});
