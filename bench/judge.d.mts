export interface Row {
  name: string;
  unit?: string;
  values: number[];
  baseline: { name: string; values: number[] };
  /**
   * One limit: on the ratio of the medians, on the median, on the p95, on the difference of the
   * medians (`added`), or the least median allowed (`min`).
   */
  bound: Partial<Record<"ratio" | "median" | "p95" | "added" | "min", number>>;
}

export interface Judged {
  median: number;
  p95: number;
  ratio?: number;
  bound: string;
  measured: number;
  held: boolean;
}

export function judge(row: Row): Judged;
