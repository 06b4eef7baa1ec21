export interface Row {
  what: string;
  beside?: string;
  unit?: string;
  ours: number[];
  bare: number[];
  bound?: Partial<Record<"ratio" | "median" | "p95" | "p99" | "more" | "least", number>>;
}

export interface Judged {
  value: number | null;
  ratio?: number;
  bound?: string;
  found?: number;
  held?: boolean;
}

export function judged(row: Row): Judged;
