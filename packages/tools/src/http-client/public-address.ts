import { BlockList, isIPv4, isIPv6 } from "node:net";

type Range = readonly [network: string, prefix: number, description: string];

/** IPv4 ranges that are not public, and one address of Azure's internal services that looks public. */
const notPublic4: readonly Range[] = [
  ["0.0.0.0", 8, "unspecified"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "carrier-grade NAT"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "for documentation"],
  ["192.88.99.0", 24, "reserved"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "for benchmarks"],
  ["198.51.100.0", 24, "for documentation"],
  ["203.0.113.0", 24, "for documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
  ["168.63.129.16", 32, "internal to a cloud"],
];

/** The only public IPv6 range is global unicast. These parts of it are not public. */
const globalUnicast6 = ["2000::", 3] as const;
const notPublic6: readonly Range[] = [
  ["2001::", 23, "for protocols, such as Teredo"],
  ["2001:db8::", 32, "for documentation"],
  ["2002::", 16, "6to4, which embeds an IPv4 address"],
  ["3fff::", 20, "for documentation"],
];

/** IPv6 ranges whose last 32 bits are an IPv4 address: IPv4-mapped and NAT64. The IPv4 address decides. */
const embedding6 = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
] as const;

const ranges4 = notPublic4.map(([network, prefix, description]) => {
  return { list: listOf(network, prefix, "ipv4"), description };
});
const ranges6 = notPublic6.map(([network, prefix, description]) => {
  return { list: listOf(network, prefix, "ipv6"), description };
});
const globalUnicastList = listOf(...globalUnicast6, "ipv6");
const embeddingLists = embedding6.map(([network, prefix]) => listOf(network, prefix, "ipv6"));

/**
 * The reason why an address is not public; null for a public address. Text that is not an address is not public.
 *
 * @example
 * whyNotPublic("169.254.169.254"); // "link-local"
 * whyNotPublic("::ffff:10.0.0.1"); // "private"
 */
export function whyNotPublic(address: string): string | null {
  if (isIPv4(address)) return ranges4.find(({ list }) => list.check(address))?.description ?? null;
  // An address with a zone (`fe80::1%eth0`) is never public, and BlockList ignores the zone.
  if (!isIPv6(address) || address.includes("%")) return "no address";
  const embedded = embeddedAddress(address);
  if (embedded !== address) return whyNotPublic(embedded);
  if (!globalUnicastList.check(address, "ipv6")) return "not global unicast";
  return ranges6.find(({ list }) => list.check(address, "ipv6"))?.description ?? null;
}

/** The IPv4 address that an IPv6 address embeds; otherwise the address itself. */
export function embeddedAddress(address: string): string {
  if (!isIPv6(address) || address.includes("%")) return address;
  return embeddingLists.some((list) => list.check(address, "ipv6")) ? last32Bits(address) : address;
}

function listOf(network: string, prefix: number, type: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  list.addSubnet(network, prefix, type);
  return list;
}

/** The last 32 bits in IPv4 notation. The URL parser normalizes every IPv6 address to groups without dots. */
function last32Bits(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(":");
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
