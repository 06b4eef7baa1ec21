import type { NavigateOptions } from "@tanstack/react-router";
import { useMemo } from "react";
import { useFleetQuery } from "../api/queries.ts";
import { sentenceCase } from "../ui/sentence-case.ts";
import { useNavigationPages } from "./use-navigation-pages.ts";

export interface PaletteItem {
  key: string;
  title: string;
  note: string;
  link: NavigateOptions;
}

const recentJobs = { query: { limit: 30 } };

export function usePaletteItems(): PaletteItem[] {
  const pages = useNavigationPages();
  const agents = useFleetQuery("status").data?.agents;
  const jobs = useFleetQuery("jobs", recentJobs).data?.jobs;
  return useMemo(
    () => [
      ...pages.map(({ to, title, letter }) => ({
        key: to,
        title,
        note: `Page · g ${letter}`,
        link: { to },
      })),
      ...(agents ?? []).map(({ name }) => ({
        key: `agent ${name}`,
        title: name,
        note: "Agent",
        link: { to: "/agents/$agent", params: { agent: name } } as const,
      })),
      ...(jobs ?? []).map(({ id, agent, status }) => ({
        key: id,
        title: id,
        note: `${agent} · ${sentenceCase(status)}`,
        link: { to: "/jobs/$jobId", params: { jobId: id } } as const,
      })),
    ],
    [pages, agents, jobs],
  );
}
