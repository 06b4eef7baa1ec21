import { z } from "zod";

/** The position of a job in its chain: a job and all jobs that were delegated from it. */
export const chainSchema = z.object({
  /** The root job. */
  id: z.string(),
  /** The job that delegated this one; null for the root. */
  parent: z.string().nullable(),
  /** Number of ancestors. */
  depth: z.number().int().nonnegative(),
  /** The agents of the ancestors, root first. */
  agents: z.array(z.string()),
  /** The remaining budget of the chain at admission, which limits the cost of each run. */
  max_usd: z.number().positive().nullable(),
});
export type Chain = z.infer<typeof chainSchema>;

/** Totals of all jobs of a chain. */
export interface ChainSpending {
  jobs: number;
  /** Cost of the finished jobs, and the amount reserved for the others. */
  usd: number;
}

export function startChain(id: string): Chain {
  return { id, parent: null, depth: 0, agents: [], max_usd: null };
}

export function extendChain({ id, agent, chain }: ChainMember): Chain {
  const agents = [...chain.agents, agent];
  return { id: chain.id, parent: id, depth: chain.depth + 1, agents, max_usd: null };
}

/** All jobs that were delegated from a job, directly or indirectly, parents before children. */
export function findDescendants<T extends ChainMember>(id: string, jobs: readonly T[]): T[] {
  const children = jobs.filter(({ chain }) => chain.parent === id);
  return children.flatMap((child) => [child, ...findDescendants(child.id, jobs)]);
}

interface ChainMember {
  id: string;
  agent: string;
  chain: Chain;
}
