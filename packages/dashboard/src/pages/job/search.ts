export interface JobSearch {
  /** `raw` shows the events as they came. */
  view?: "waterfall" | "raw";
  /** The entry to show first. */
  at?: string;
}

/** What the address may say; anything else is left out. */
export function parseJobSearch({ view, at }: Record<string, unknown>): JobSearch {
  return {
    ...((view === "raw" || view === "waterfall") && { view }),
    ...(typeof at === "string" && { at }),
  };
}
