import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";

/** What the client library calls a server whose name it does not know: it has none where the address is a number. */
const nameless = "localhost";

/**
 * The check of a server's certificate, for addresses of numbers too: the client library would have them named
 * `localhost`. Of several such addresses the certificate may name any.
 *
 * @param learned addresses that servers have told, without a scheme: those of the others of their cluster
 * @returns null where the library's own check will do
 */
export function identityOf(urls: readonly string[], learned: () => readonly string[] = () => []) {
  const hosts = urls.map(hostOf);
  const numbers = hosts.filter(isNumber);
  if (numbers.length === 0) return null;
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const isUnnamed = name === nameless && !hosts.includes(nameless);
    const others = learned().map((address) => hostOf(`nats://${address}`));
    const names = isUnnamed ? [...numbers, ...others.filter(isNumber)] : [name];
    const problems = names.map((each) => checkServerIdentity(each, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function isNumber(host: string): boolean {
  return isIP(host) !== 0;
}
