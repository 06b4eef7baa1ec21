export const costGroupings = ["agent", "schedule", "model"] as const;
export const costDayCounts = [7, 30, 90] as const;

export interface CostsSearch {
  by?: (typeof costGroupings)[number];
  days?: (typeof costDayCounts)[number];
  agent?: string;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseCostsSearch({ by, days, agent }: Record<string, unknown>): CostsSearch {
  return {
    by: costGroupings.find((key) => key === by),
    days: costDayCounts.find((span) => span === Number(days)),
    agent: typeof agent === "string" && agent !== "" ? agent : undefined,
  };
}
