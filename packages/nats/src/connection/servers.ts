import { TroupeError } from "@troupe/core";

/** Addresses as the client takes them, the credentials that stood in them, and how to name them to people. */
export interface NatsServers {
  urls: string[];
  credentials: { user?: string; pass?: string; token?: string };
  /** Whether one of them is to be spoken to encrypted only. */
  isSecure: boolean;
  /** Without credentials. */
  shown: string;
}

/** Takes addresses apart: the client library does not know credentials in them. */
export function toNatsServers(given: string | readonly string[]): NatsServers {
  const parsed = [given]
    .flat()
    .flatMap((text) => text.split(","))
    .map((text) => parseServer(text.trim()));
  const urls = parsed.map((url) => `${url.protocol}//${url.host}`);
  const credentials = parsed.map(credentialsIn).find((found) => Object.keys(found).length > 0) ?? {};
  const isSecure = parsed.some(({ protocol }) => protocol === "tls:");
  return { urls, credentials, isSecure, shown: urls.join(", ") };
}

function parseServer(text: string): URL {
  const url = URL.parse(text.includes("://") ? text : `nats://${text}`);
  const isWhole = url !== null && [url.username, url.password].every(isDecodable);
  if (isWhole && ["nats:", "tls:"].includes(url.protocol) && url.hostname !== "") {
    if (url.port === "") url.port = "4222";
    return url;
  }
  throw new TroupeError("USAGE", `${JSON.stringify(text.replace(/\/\/.*@/, "//…@"))} is no NATS address`, {
    fix: "give one such as nats://127.0.0.1:4222",
  });
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}

function credentialsIn({ username, password }: URL): NatsServers["credentials"] {
  if (username === "") return {};
  const user = decodeURIComponent(username);
  return password === "" ? { token: user } : { user, pass: decodeURIComponent(password) };
}
