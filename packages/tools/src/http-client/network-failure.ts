import { RunFailure } from "@troupe/core";

/** What went wrong between here and a host, in words that say what to do. A `RunFailure` stays what it is. */
export function networkFailure(thrown: unknown, host: string): RunFailure {
  if (thrown instanceof RunFailure) return thrown;
  const code = codeOf(thrown) ?? "";
  const known = reasons.find(([pattern]) => pattern.test(code));
  const [, why, recoverable] = known ?? [null, "the connection failed", true];
  const detail = thrown instanceof Error && code !== thrown.message ? thrown.message : "";
  const shown = [code, detail].filter(Boolean).join(": ").slice(0, 200);
  return new RunFailure({
    type: "network",
    message: `${host} could not be read: ${why}${shown && ` (${shown})`}`,
    recoverable,
  });
}

const reasons: readonly (readonly [code: RegExp, why: string, recoverable: boolean])[] = [
  [/^ECONNREFUSED$/, "nothing listens there; check host and port", false],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/,
    "no way leads there from this machine; it may have no network",
    true,
  ],
  [/^ETIMEDOUT$/, "it did not answer; try again later, or another source", true],
  [/^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, "the connection ended before its answer was whole", true],
  [/^HPE_HEADER_OVERFLOW$/, "its headers are too large", false],
  [/^HPE_/, "what it answered is not HTTP", false],
  [/^(?:Z_|ZSTD_|ERR_ZLIB|ERR_BROTLI|ERR__ERROR)/, "its compressed content is damaged", false],
  [/^(?:EPROTO|ERR_SSL)/, "it does not speak TLS; it may be http only", false],
  [
    /CERT|SIGNED|ISSUER|ALTNAME|UNABLE_TO_VERIFY/,
    "its certificate is not valid, so that nobody knows who it is",
    false,
  ],
];

export function codeOf(error: unknown): string | null {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : null;
}
