/** One line of the report. */
export interface Figure {
  what: string;
  /** One of each measurement. */
  values: number[];
  unit: string;
  aim?: number;
}
