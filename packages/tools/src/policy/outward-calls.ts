import { isFullyTainted, type Taint } from "@troupe/core/internal";
import type { Outward } from "@troupe/core/tool";

/**
 * The rule of two: a run that has read text of strangers and private data may not send more than a few characters to the
 * outside unless a person allows it. Each such call counts, so that data cannot leave in small pieces either.
 */

/** Characters of all calls together. A page address needs about as many, a key or a password more. */
export const freeCharacters = 64;

/** The reason why a person has to allow the content that leaves this machine. Null if no approval is needed. */
export function outwardConsent(
  outward: Outward | null,
  taint: Taint | undefined,
  trustedHosts: readonly string[],
): string | null {
  const limited = limitedCall(outward, taint, trustedHosts);
  if (limited === null) return null;
  const { characters, host, sources } = limited;
  if (characters !== null && characters + sources.sentCharacters <= freeCharacters) return null;
  const sent = characters === null ? "data" : `${characters} characters`;
  const fix = host === null ? "" : `; web.trustedHosts of policy.yaml can allow it for this host`;
  return (
    `this run has read text that a stranger may have written (${shown(sources.untrusted)}) and private data ` +
    `(${shown(sources.private)}), and the call can send ${sent} to ${host ?? "any host"}${fix}`
  );
}

/** The characters that count against the free ones: nothing for a trusted host, and nothing before both were read. */
export function countedCharacters(
  outward: Outward | null,
  taint: Taint | undefined,
  trustedHosts: readonly string[],
): number {
  const limited = limitedCall(outward, taint, trustedHosts);
  return limited === null ? 0 : (limited.characters ?? freeCharacters + 1);
}

/** The content of a call whose run has read both, with these sources. Null for a trusted host, and for every other call. */
function limitedCall(
  outward: Outward | null,
  taint: Taint | undefined,
  trustedHosts: readonly string[],
): (Outward & { sources: Taint }) | null {
  if (outward === null || !isFullyTainted(taint) || isTrusted(outward.host, trustedHosts)) return null;
  return { ...outward, sources: taint };
}

/** A listed host also stands for the hosts below it. */
export function isTrusted(host: string | null, trustedHosts: readonly string[]): boolean {
  if (host === null) return false;
  const name = host.toLowerCase().replace(/\.$/, "");
  return trustedHosts.some((trusted) => {
    const wanted = trusted.toLowerCase();
    return name === wanted || name.endsWith(`.${wanted}`);
  });
}

function shown(sources: readonly string[]): string {
  const more = sources.length - 3;
  return sources.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
