import { z } from "zod";
import { Person } from "../../ports/person.ts";
import { someOf } from "../base/wording.ts";

export const People = z.array(Person);

/** A person in a sentence: the name, or the address of a person without one. */
export function nameOf({ name, address }: Person): string {
  return name === "" ? address : name;
}

export function namesOf(people: readonly Person[]): string {
  return someOf(people.map(nameOf));
}

/** A person as an argument or in a list: `Ana <ana@acme.example>`. A name like an address is left out. */
export function personLine({ name, address }: Person): string {
  return name === "" || name.includes("@") ? address : `${name} <${address}>`;
}

export function firstName(person: Person): string {
  return nameOf(person).split(/\s+/)[0] ?? "";
}

/** The person with this address, or the address as a person without a name. */
export function personWith(address: string, people: readonly Person[]): Person {
  return people.find((person) => person.address === address.toLowerCase()) ?? { name: "", address };
}
