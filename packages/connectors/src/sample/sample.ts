import type { LocalAccount } from "../local/local-account.ts";
import { shortHash } from "../local/mail/mail-store.ts";
import type { Person } from "../ports/person.ts";
import { colleagues, outsiders, type SamplePerson, sampleDomain } from "./people.ts";

/** The parts of a sample that all texts refer to. */
export interface Sample {
  account: LocalAccount;
  nowMs: number;
  seed: number;
  /** By handle; `me` is the user. */
  people: ReadonlyMap<string, Person>;
}

/** The people of the sample, by handle. */
export function peopleOf({ person }: LocalAccount): Map<string, Person> {
  const ownDomain = person.address.split("@")[1] ?? "office.local";
  const toPerson = ({ handle, name, organization }: SamplePerson): [string, Person] => {
    const domain = organization === null ? ownDomain : sampleDomain(organization);
    return [handle, { name, address: `${handle}@${domain}` }];
  };
  return new Map([["me", person], ...[...colleagues, ...outsiders].map(toPerson)]);
}

/** A number that depends on the seed and on the name alone, so that a changed text changes no other date. */
export function spread(seed: number, name: string, below: number): number {
  return Number.parseInt(shortHash(`${seed} ${name}`).slice(0, 8), 16) % below;
}

export function personNamed({ people }: Sample, handle: string): Person {
  const found = people.get(handle);
  if (!found) throw new Error(`the sample has no person ${handle}`);
  return found;
}
