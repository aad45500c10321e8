/**
 * Services where anyone can have an address. Their domains are never the user's own, because a stranger's address has the same
 * domain.
 */
const sharedDomains: ReadonlySet<string> = new Set([
  ...["gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "msn.com", "icloud.com", "me.com"],
  ...["mac.com", "yahoo.com", "ymail.com", "aol.com", "proton.me", "protonmail.com", "pm.me", "gmx.de", "gmx.net"],
  ...["gmx.com", "gmx.at", "gmx.ch", "web.de", "t-online.de", "freenet.de", "mail.com", "mail.ru", "yandex.ru"],
  ...["yandex.com", "zoho.com", "fastmail.com", "hey.com", "tutanota.com", "tuta.com", "posteo.de", "mailbox.org"],
  ...["qq.com", "163.com", "126.com", "naver.com", "orange.fr", "free.fr", "laposte.net", "libero.it", "bluewin.ch"],
]);

/**
 * Tells addresses inside and outside of the user's organization apart.
 *
 * @example
 * const isExternal = externalAddresses({ account: "kim@lantern.example", ownDomains: null });
 * isExternal("john@acme.example"); // true
 */
export function externalAddresses({
  account,
  ownDomains,
}: {
  account: string;
  ownDomains: readonly string[] | null;
}): (address: string) => boolean {
  const own = account.toLowerCase();
  const domains = new Set((ownDomains ?? defaultDomains(own)).map((domain) => domain.toLowerCase()));
  return (address) => {
    const folded = address.toLowerCase();
    return folded !== own && !domains.has(domainOf(folded));
  };
}

function defaultDomains(account: string): string[] {
  const domain = domainOf(account);
  return domain === "" || sharedDomains.has(domain) ? [] : [domain];
}

/** The part after the last `@`. Empty for a text that is not an address. */
export function domainOf(address: string): string {
  const at = address.lastIndexOf("@");
  return at === -1 ? "" : address.slice(at + 1);
}
