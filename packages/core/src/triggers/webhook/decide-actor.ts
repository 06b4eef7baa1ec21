import { valuesAt } from "../values-at.ts";
import { firstText } from "./read-delivery.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

/** What only somebody with write access to the repository can cause. */
const eventsOfInsiders = new Set([
  "create",
  "delete",
  "deployment",
  "milestone",
  "push",
  "release",
  "repository_dispatch",
  "workflow_dispatch",
]);

/** What nobody can do to another's issue without being let in; the author's own may come by a form. */
const actionsOfInsiders = new Set([
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

/** Whose words or deed it is, the innermost first. */
const works = ["comment", "review", "discussion", "pull_request", "issue"];

/**
 * Undefined when whoever caused a GitHub event may trigger an agent; else why not. GitHub tells what
 * the author of a thing is to the repository, not what the sender is: so it must be the author's own
 * deed, or one for which GitHub itself wants rights.
 */
export function decideActor(
  event: string,
  payload: unknown,
  { associations, logins, anyone }: WebhookSchedule["from"],
): string | undefined {
  if (anyone) return undefined;
  const sender = firstText(payload, "sender.login");
  if (sender === null) return "it does not say who caused it";
  if (logins.some((login) => login.toLowerCase() === sender.toLowerCase())) return undefined;
  const [name = "", action = ""] = event.split(".");
  const association = associationOf(sender, name, action, payload);
  const isKnown = associations.some((one) => one === association);
  return isKnown ? undefined : `${sender} is ${association} to the repository`;
}

/** Whoever has rights that GitHub does not name is a collaborator at least. */
function associationOf(sender: string, event: string, action: string, payload: unknown): string {
  if (eventsOfInsiders.has(event)) return "COLLABORATOR";
  const work = works.find((one) => valuesAt(payload, one).length > 0) ?? "";
  const isAuthor = firstText(payload, `${work}.user.login`) === sender;
  if (!isAuthor) return actionsOfInsiders.has(action) ? "COLLABORATOR" : "unknown";
  return firstText(payload, `${work}.author_association`) ?? "unknown";
}
