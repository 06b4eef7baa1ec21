export interface JobSearch {
  /** Default: conversation and waterfall side by side. */
  view?: "waterfall" | "raw";
  /** The entry to scroll to. */
  at?: string;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseJobSearch({ view, at }: Record<string, unknown>): JobSearch {
  return {
    ...((view === "raw" || view === "waterfall") && { view }),
    ...(typeof at === "string" && { at }),
  };
}
