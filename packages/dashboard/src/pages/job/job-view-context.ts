import type { Approval, Job } from "@herdctl/server/contract";
import { createContext, useContext } from "react";

/** State and actions shared by all lines of the conversation. */
export interface JobView {
  job: Job;
  /** The agent's working directory. Paths are shown relative to it. */
  cwd: string | null;
  approvalsByTool: ReadonlyMap<string, Approval[]>;
  /** Entries that the user expanded or collapsed. */
  foldingOverrides: ReadonlyMap<string, boolean>;
  setOpen(key: string, isOpen: boolean): void;
  /** The text that the user searches for. Collapsed text that contains it is expanded. */
  searchText: string;
  /** Highlights the entry in the waterfall. */
  selectEntry(key: string): void;
  /** Opens the fork dialog for the message with this uuid. */
  fork(uuid: string): void;
  /** Why controls are disabled. */
  disabledReason: string | undefined;
}

const context = createContext<JobView | undefined>(undefined);
export const JobViewProvider = context.Provider;

export function useJobView(): JobView {
  const view = useContext(context);
  if (!view) throw new Error("useJobView must be used inside JobViewProvider");
  return view;
}
