import type { FleetEvent } from "@herdctl/server/contract";
import type { LinkProps } from "@tanstack/react-router";

export interface News {
  title: string;
  description: string;
  /** Where it can be seen whole, and as an address. */
  link: LinkProps;
  path: string;
  isUrgent: boolean;
}

/** What a person wants to hear of while he looks at something else; most of what happens is not. */
export function newsOf(event: FleetEvent): News | undefined {
  switch (event.type) {
    case "job:failed": {
      const { agent, id, outcome } = event.job;
      return {
        title: `${agent} failed`,
        description: outcome?.message ?? "",
        ...job(id),
        isUrgent: true,
      };
    }
    case "approval:asked": {
      const { tool, question } = event.approval;
      const title = question === null ? "An agent asks for permission" : "An agent has a question";
      const description = question ?? tool;
      return { title, description, link: { to: "/inbox" }, path: "/inbox", isUrgent: true };
    }
    case "agent:paused":
      return {
        title: `${event.agent} is paused`,
        description: event.reason,
        ...agentPage(event.agent),
      };
    case "fleet:problem":
      return { title: "The fleet has a problem", description: event.message, ...fleetPage };
    case "fleet:reloaded":
      return { title: "The configuration was read anew", description: "", ...fleetPage };
    default:
      return undefined;
  }
}

const fleetPage = { link: { to: "/" } as LinkProps, path: "/", isUrgent: false };

function job(id: string) {
  const link: LinkProps = { to: "/jobs/$jobId", params: { jobId: id } };
  return { link, path: `/jobs/${id}` };
}

function agentPage(name: string) {
  const link: LinkProps = { to: "/agents/$agent", params: { agent: name } };
  return { link, path: `/agents/${encodeURIComponent(name)}`, isUrgent: false };
}
