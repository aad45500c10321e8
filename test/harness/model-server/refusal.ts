/** A request that is refused, free of any vendor's words; each wire says it in its own. */
export class Refusal extends Error {
  readonly status: number;
  /** The vendor's own word for it, where it is not the one that follows from the status. */
  readonly code: string | null;
  /** Where in the body, as that vendor writes it. */
  readonly param: string | null;
  readonly retryAfterMs: number | null;

  constructor(
    status: number,
    message: string,
    { code = null, param = null, retryAfterMs = null }: Partial<Pick<Refusal, "code" | "param" | "retryAfterMs">> = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.param = param;
    this.retryAfterMs = retryAfterMs;
  }
}
