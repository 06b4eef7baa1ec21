import type { WorkClaim } from "../../store/model/work-claim.ts";
import { fillPrompt } from "../prompt-template.ts";

export type WorkClaimResult =
  | { kind: "taken"; claim: WorkClaim; item: WorkItem }
  /** No item is available, and why. */
  | { kind: "none"; why: string };

/** A work item that is kept in another system. All its texts are untrusted. */
export interface WorkItem {
  /** Id of the item in its source. */
  id: string;
  title: string;
  body: string;
  url: string | null;
  author: string | null;
  labels: string[];
}

/** The job that claims an item. Its id is recorded before the source gets the claim. */
export interface Claimant {
  claimId: string;
  fleet: string;
  agent: string;
}

/** A claim as the source stores it. */
export interface SourceClaim extends Claimant {
  item: string;
  /** Changes with each renewal; null if it is unknown whether the claim was made. */
  handle: string | null;
}

const itemTemplate = `The work item ({{work.id}}), its title and its text:
{{work.title}}
{{work.body}}`;

const defaultTask = "Do what the work item below asks for, as far as you may and can.";

/**
 * The prompt for a work item. If the operator's prompt has no placeholder for the item, the item is
 * appended. A prompt that is already filled is not filled again.
 */
export function buildWorkPrompt(
  item: WorkItem,
  template: string | undefined,
  isFilled: boolean,
): string {
  const values = { work: { ...item, id: Number(item.id) || item.id } };
  const task = template ?? defaultTask;
  if (isFilled || !/\{\{\s*work\./.test(task)) {
    return `${task}\n\n${fillPrompt(itemTemplate, values)}`;
  }
  return fillPrompt(task, values);
}
