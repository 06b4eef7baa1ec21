import type { NavigateOptions } from "@tanstack/react-router";
import { useMemo } from "react";
import { useAnswer } from "../api/queries.ts";
import { usePlaces } from "./use-places.ts";

export interface PaletteItem {
  key: string;
  title: string;
  note: string;
  link: NavigateOptions;
}

const recent = { query: { limit: 30 } };

export function usePaletteItems(): PaletteItem[] {
  const places = usePlaces();
  const agents = useAnswer("status").data?.agents;
  const jobs = useAnswer("jobs", recent).data?.jobs;
  return useMemo(
    () => [
      ...places.map(({ to, title, letter }) => ({
        key: to,
        title,
        note: `page · g ${letter}`,
        link: { to },
      })),
      ...(agents ?? []).map(({ name }) => ({
        key: `agent ${name}`,
        title: name,
        note: "agent",
        link: { to: "/agents/$agent", params: { agent: name } } as const,
      })),
      ...(jobs ?? []).map(({ id, agent, status }) => ({
        key: id,
        title: id,
        note: `${agent} · ${status}`,
        link: { to: "/jobs/$jobId", params: { jobId: id } } as const,
      })),
      { key: "/design", title: "Design", note: "page", link: { to: "/design" } },
    ],
    [places, agents, jobs],
  );
}
