export const costKeys = ["agent", "schedule", "model"] as const;
export const costSpans = [7, 30, 90] as const;

export interface CostsSearch {
  by?: (typeof costKeys)[number];
  days?: (typeof costSpans)[number];
  agent?: string;
}

/** What the address may say; anything else is left out. */
export function parseCostsSearch({ by, days, agent }: Record<string, unknown>): CostsSearch {
  return {
    by: costKeys.find((key) => key === by),
    days: costSpans.find((span) => span === Number(days)),
    agent: typeof agent === "string" && agent !== "" ? agent : undefined,
  };
}
