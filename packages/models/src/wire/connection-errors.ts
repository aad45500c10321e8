/** Of a request that was not even tried, and never will be: the address is none, or one that is not spoken to. */
export function isUnaskable(thrown: unknown): boolean {
  return chainOf(thrown).some(
    ({ message, code }) => code === "ERR_INVALID_URL" || /bad port|unknown scheme|includes credentials/i.test(message),
  );
}

/** Of a request that never reached anyone: the name is not known, nobody listens, or it is not who it should be. */
export function isUnconnected(thrown: unknown): boolean {
  return chainOf(thrown).some(
    ({ syscall, code }) =>
      /^(connect|getaddrinfo)$/.test(syscall ?? "") ||
      /CONNECT_TIMEOUT|CERT|TLS|SSL|SELF_SIGNED|EPROTO|UNABLE_TO/.test(code ?? ""),
  );
}

interface Thrown {
  message: string;
  code?: string;
  syscall?: string;
}

/** An error and what caused it, down to the first cause: what fetch says of itself is "fetch failed". */
export function chainOf(thrown: unknown): Thrown[] {
  const chain: Thrown[] = [];
  for (let error = thrown; error instanceof Error && chain.length < 10; ) {
    chain.push(error);
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return chain.length > 0 ? chain : [{ message: String(thrown) }];
}

/** Of an answer that was packed wrongly: what a proxy does, not a broken line. */
export function isPackedWrongly(thrown: unknown): boolean {
  return chainOf(thrown).some(({ code }) => /^Z_DATA_ERROR$|ERROR_FORMAT|^ZSTD_error/.test(code ?? ""));
}

/** What helps where two machines cannot agree on whom they speak to; null where that is not what is wrong. */
export function trustFix(thrown: unknown): string | null {
  const codes = chainOf(thrown).map(({ code }) => code ?? "");
  if (codes.some((code) => /^ERR_SSL|^EPROTO$/.test(code))) return "it does not speak https: is its address http://…?";
  if (!codes.some((code) => /CERT|UNABLE_TO_(VERIFY|GET)/.test(code))) return null;
  return "its certificate is not trusted here: check the address, or export NODE_EXTRA_CA_CERTS=<file of its authority>";
}
