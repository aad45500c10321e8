/** The outcome of one safe repair. Items that need no repair have none. */
export interface Repair {
  name: string;
  status: "fixed" | "failed" | "skipped";
  before: string;
  /** The state now. For a failed or skipped repair: why it is unchanged. */
  after: string;
  /** The next step if it is not fixed. */
  fix: string | null;
}

export const fixed = (name: string, before: string, after: string): Repair => ({
  ...{ name, status: "fixed", before, after, fix: null },
});

export const skipped = (name: string, before: string, { after, fix }: { after: string; fix: string }): Repair => ({
  ...{ name, status: "skipped", before, after, fix },
});

/** Runs a repair; an error is its outcome, so that the next repair still runs. */
export async function attempt(
  name: string,
  { before, fix }: { before: string; fix: string },
  act: () => Promise<Repair | null> | Repair | null,
): Promise<Repair[]> {
  try {
    const repair = await act();
    return repair ? [repair] : [];
  } catch (thrown) {
    const after = thrown instanceof Error ? thrown.message : String(thrown);
    return [{ name, status: "failed", before, after, fix }];
  }
}
