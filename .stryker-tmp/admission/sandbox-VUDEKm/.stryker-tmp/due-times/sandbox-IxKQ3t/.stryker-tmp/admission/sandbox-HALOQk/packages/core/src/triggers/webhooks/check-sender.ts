import { valuesAt } from "../../jobs/prompt-template.ts";
import { firstNonEmptyText } from "./read-delivery.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

/** Events that require write access to the repository. */
const writeAccessEvents = new Set([
  "create",
  "delete",
  "deployment",
  "milestone",
  "push",
  "release",
  "repository_dispatch",
  "workflow_dispatch",
]);

/**
 * Actions on another person's issue that require rights. Authors can cause them on their issues
 * through a form.
 */
const triageActions = new Set([
  "assigned",
  "demilestoned",
  "labeled",
  "locked",
  "milestoned",
  "pinned",
  "transferred",
  "unassigned",
  "unlabeled",
  "unlocked",
  "unpinned",
]);

/** Paths of authored objects, innermost first. */
const authoredPaths = ["comment", "review", "discussion", "pull_request", "issue"];

/**
 * Returns undefined if the sender of a GitHub event may trigger an agent, else the reason why not.
 * GitHub reports the association of an object's author, not of the sender. So the sender must be
 * the author, or the event must require rights.
 */
export function checkSender(
  event: string,
  payload: unknown,
  { associations, logins, anyone }: WebhookSchedule["allowed_senders"],
): string | undefined {
  // defence: actor-check
  if (anyone) return undefined;
  const sender = firstNonEmptyText(payload, "sender.login");
  if (sender === null) return "the payload names no sender";
  if (logins.some((login) => login.toLowerCase() === sender.toLowerCase())) return undefined;
  const [name = "", action = ""] = event.split(".");
  const association = senderAssociation(sender, name, action, payload);
  const isKnown = associations.some((allowed) => allowed === association);
  return isKnown ? undefined : `${sender} has the association ${association} with the repository`;
}

/** A sender with rights that GitHub does not name counts as a collaborator. */
function senderAssociation(
  sender: string,
  event: string,
  action: string,
  payload: unknown,
): string {
  if (writeAccessEvents.has(event)) return "COLLABORATOR";
  const authoredPath = authoredPaths.find((path) => valuesAt(payload, path).length > 0) ?? "";
  const isAuthor = firstNonEmptyText(payload, `${authoredPath}.user.login`) === sender;
  if (!isAuthor) return triageActions.has(action) ? "COLLABORATOR" : "unknown";
  return firstNonEmptyText(payload, `${authoredPath}.author_association`) ?? "unknown";
}
