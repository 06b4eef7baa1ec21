import type { FleetEvent } from "@herdctl/server/contract";
import type { LinkProps } from "@tanstack/react-router";

export interface AppNotification {
  title: string;
  description: string;
  /** The page with the details, as a router link and as a path. */
  link: LinkProps;
  path: string;
  isUrgent: boolean;
}

/** Returns a notification for the few events that matter to a user on another page. */
export function toNotification(event: FleetEvent): AppNotification | undefined {
  switch (event.type) {
    case "job:failed": {
      const { agent, id, outcome } = event.job;
      return {
        title: `${agent} failed`,
        description: outcome?.message ?? "",
        ...jobLink(id),
        isUrgent: true,
      };
    }
    case "approval:requested": {
      const { tool, question } = event.approval;
      const title = question === null ? "An agent requests permission" : "An agent has a question";
      const description = question ?? tool;
      return { title, description, link: { to: "/inbox" }, path: "/inbox", isUrgent: true };
    }
    case "agent:paused":
      return {
        title: `${event.agent} is paused`,
        description: event.reason,
        ...agentLink(event.agent),
      };
    case "fleet:problem":
      return { title: "The fleet has a problem", description: event.message, ...fleetLink };
    case "fleet:reloaded":
      return { title: "Configuration reloaded", description: "", ...fleetLink };
    default:
      return undefined;
  }
}

const fleetLink = { link: { to: "/" } as LinkProps, path: "/", isUrgent: false };

function jobLink(id: string) {
  const link: LinkProps = { to: "/jobs/$jobId", params: { jobId: id } };
  return { link, path: `/jobs/${id}` };
}

function agentLink(name: string) {
  const link: LinkProps = { to: "/agents/$agent", params: { agent: name } };
  return { link, path: `/agents/${encodeURIComponent(name)}`, isUrgent: false };
}
