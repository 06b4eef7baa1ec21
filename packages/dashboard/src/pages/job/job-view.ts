import type { Approval, Job } from "@herdctl/server/contract";
import { createContext, useContext } from "react";

/** What every line of the conversation may need, and what it may do. */
export interface JobView {
  job: Job;
  /** Where the agent works: paths are shown as seen from there. */
  cwd: string | null;
  asked: ReadonlyMap<string, Approval[]>;
  /** What a person opened or closed. */
  opened: ReadonlyMap<string, boolean>;
  open(key: string, isOpen: boolean): void;
  /** Shows it in the waterfall. */
  choose(key: string): void;
  /** Begins a fork after the message with this uuid. */
  fork(uuid: string): void;
  /** Why nothing may be changed. */
  obstacle: string | undefined;
}

const context = createContext<JobView | undefined>(undefined);
export const JobViewProvider = context.Provider;

export function useJobView(): JobView {
  const view = useContext(context);
  if (!view) throw new Error("there is no job to be seen here");
  return view;
}
