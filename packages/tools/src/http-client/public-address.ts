import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Ranges of IPv4 that are nobody's on the public internet, and one address of a cloud's own machinery that looks public. */
const notPublic4: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ["0.0.0.0", 8, "unspecified"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "shared by a provider's customers"],
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
  ["168.63.129.16", 32, "a cloud's own"],
];

/** Of IPv6 only what is given out to the public counts at all; within that, these do not. */
const public6 = ["2000::", 3] as const;
const notPublic6: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ["2001::", 23, "for protocols, such as Teredo"],
  ["2001:db8::", 32, "for documentation"],
  ["2002::", 16, "6to4, which has an IPv4 address in it"],
  ["3fff::", 20, "for documentation"],
];

/** Whose last 32 bits are an IPv4 address, which then says whether it is public: `::ffff:0:0/96`, and NAT64. */
const carriers6: readonly (readonly [network: string, prefix: number])[] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

const ranges4 = notPublic4.map(([network, prefix, what]) => ({ list: listOf(network, prefix, "ipv4"), what }));
const ranges6 = notPublic6.map(([network, prefix, what]) => ({ list: listOf(network, prefix, "ipv6"), what }));
const unicast6 = listOf(...public6, "ipv6");
const carrying6 = carriers6.map(([network, prefix]) => listOf(network, prefix, "ipv6"));

/**
 * Why an address is none of the public internet; null where it is. What cannot be read is not public.
 *
 * @example
 * whyNotPublic("169.254.169.254"); // "link-local"
 * whyNotPublic("::ffff:10.0.0.1"); // "private"
 */
export function whyNotPublic(address: string): string | null {
  if (isIPv4(address)) return ranges4.find(({ list }) => list.check(address))?.what ?? null;
  // One with a zone (`fe80::1%eth0`) is never public, and lists pass the zone over.
  if (!isIPv6(address) || address.includes("%")) return "no address";
  const plain = plainAddress(address);
  if (plain !== address) return whyNotPublic(plain);
  if (!unicast6.check(address, "ipv6")) return "not given out to the public";
  return ranges6.find(({ list }) => list.check(address, "ipv6"))?.what ?? null;
}

/** The IPv4 address that an IPv6 address merely stands for; otherwise the address as it is. */
export function plainAddress(address: string): string {
  if (!isIPv6(address) || address.includes("%")) return address;
  return carrying6.some((list) => list.check(address, "ipv6")) ? last32Bits(address) : address;
}

function listOf(network: string, prefix: number, type: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  list.addSubnet(network, prefix, type);
  return list;
}

/** As IPv4. The URL parser writes every IPv6 address in one way, without dots. */
function last32Bits(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(":");
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
