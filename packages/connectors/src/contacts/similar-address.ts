import { nearestNames } from "@troupe/core/internal";

/**
 * A known address with at most two other letters: a misspelt name at the same domain, or the reverse.
 *
 * @example
 * similarAddress("anna@acme.example", ["ana@acme.example"]); // "ana@acme.example"
 */
export function similarAddress(address: string, known: readonly string[]): string | null {
  const [, name, domain] = /^([^\s@]{1,64})@([^\s@]{1,190})$/.exec(address) ?? [];
  if (name === undefined || domain === undefined) return null;
  const sameName = known.filter((each) => each.startsWith(`${name}@`));
  const sameDomain = known.filter((each) => each.endsWith(`@${domain}`));
  return nearPart(domain, sameName, 1) ?? nearPart(name, sameDomain, 0);
}

/** The address whose part before (0) or after (1) the @ is similar enough. */
function nearPart(part: string, addresses: readonly string[], side: 0 | 1): string | null {
  const parts = new Map(addresses.map((address) => [address.split("@")[side] ?? "", address]));
  const [nearest] = nearestNames(part, [...parts.keys()], 1);
  return nearest === undefined ? null : (parts.get(nearest) ?? null);
}
