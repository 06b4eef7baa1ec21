import { z } from "zod";

/** Where a job stands among the jobs that agents gave each other, beginning with one of another kind. */
export const chainSchema = z.object({
  /** The first job. */
  id: z.string(),
  /** The job that gave this one; null for the first. */
  parent: z.string().nullable(),
  /** How many jobs came before it, one giving the other. */
  depth: z.number().int().nonnegative(),
  /** The agents of those jobs, the first one first. */
  agents: z.array(z.string()),
  /** What the chain had left when it came in: no run of it may cost more. */
  max_usd: z.number().positive().nullable(),
});
export type Chain = z.infer<typeof chainSchema>;

/** What all jobs of a chain together have come to. */
export interface ChainSpent {
  jobs: number;
  /** What those have cost that are over, and what is held for those that are not. */
  usd: number;
}

export function firstOfChain(id: string): Chain {
  return { id, parent: null, depth: 0, agents: [], max_usd: null };
}

export function nextInChain({ id, agent, chain }: ChainLink): Chain {
  const agents = [...chain.agents, agent];
  return { id: chain.id, parent: id, depth: chain.depth + 1, agents, max_usd: null };
}

/** A job and all that came of it, whoever gave it on: parents before their children. */
export function descendantsOf<T extends ChainLink>(id: string, jobs: readonly T[]): T[] {
  const children = jobs.filter(({ chain }) => chain.parent === id);
  return children.flatMap((child) => [child, ...descendantsOf(child.id, jobs)]);
}

interface ChainLink {
  id: string;
  agent: string;
  chain: Chain;
}
