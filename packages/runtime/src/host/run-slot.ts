import type { Slots } from "./run/slots.ts";

/** A run's own place among those at work on its host: held, given back while it only waits, and taken again. */
export class RunSlot {
  readonly #slots: Slots;
  #state: "none" | "waiting" | "held" | "over" = "held";
  #taken: Promise<void> = Promise.resolve();

  /** Takes over the slot that was taken for the run. */
  constructor(slots: Slots) {
    this.#slots = slots;
  }

  get isHeld(): boolean {
    return this.#state === "held";
  }

  /** Waits for one, where it has none; once for all who ask. */
  take(): Promise<void> {
    if (this.#state !== "none") return this.#taken;
    this.#state = "waiting";
    this.#taken = this.#slots.take().then(() => {
      if (this.#state === "waiting") this.#state = "held";
      else this.#slots.give();
    });
    return this.#taken;
  }

  giveBack(): void {
    if (this.#state !== "held") return;
    this.#state = "none";
    this.#slots.give();
  }

  /** For good: also what it still waits for. */
  end(): void {
    this.giveBack();
    this.#state = "over";
  }
}
