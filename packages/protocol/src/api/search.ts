import type { Job } from "../records/job.ts";

export interface JobSearchQuery {
  /** Words that must all occur in the prompt, the summary or the output; the last may be a start. */
  text: string;
  agent?: string;
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface JobSearchHit {
  job: Job;
  /** Where the words were found. */
  field: "prompt" | "summary" | "output";
  /** A part of that text around the first word. */
  excerpt: string;
}

export interface JobSearchPage {
  /** Newest first. */
  hits: JobSearchHit[];
  next_cursor: string | null;
}
