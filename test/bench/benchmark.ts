/** One line of the report. */
export interface Figure {
  what: string;
  /** One of each measurement. */
  values: number[];
  unit: string;
  aim?: number;
}

/** Runs a script of this folder so many times, each in a new process, and returns the JSON that each prints. */
export type Measure = <T>(times: number, script: string, ...args: string[]) => Promise<T[]>;

export interface Benchmark {
  name: string;
  /** One line of `--list`: the measured figure, and the floor beside it. */
  what: string;
  needsNats?: boolean;
  /** Yields each figure as soon as it is measured. */
  figures(measure: Measure): AsyncIterable<Figure>;
}

/** How often most benchmarks measure. Machines are noisy: the report has the median and the range. */
export const iterations = 3;
