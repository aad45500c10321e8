import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";

/** What the client library calls a server whose name it does not know: it has none where the address is a number. */
const nameless = "localhost";

/**
 * The check of a server's certificate, for addresses of numbers too: the client library would have them named
 * `localhost`. Of several such addresses the certificate may name any.
 *
 * @returns null where the library's own check will do
 */
export function identityOf(urls: readonly string[]) {
  const hosts = urls.map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ""));
  const numbers = hosts.filter((host) => isIP(host) !== 0);
  if (numbers.length === 0) return null;
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const names = name === nameless && !hosts.includes(nameless) ? numbers : [name];
    const problems = names.map((each) => checkServerIdentity(each, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}
