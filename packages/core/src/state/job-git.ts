import { z } from "zod";

/** The commits that a run in a container left in the repository of its workspace. */
export const jobGitSchema = z.object({
  /** HEAD when the run began; null before the first commit. */
  head_before: z.string().nullable(),
  head_after: z.string().nullable(),
  /** The reference that holds HEAD of the run; null when only other branches have new commits. */
  ref: z.string().nullable(),
  /** How many commits are new. */
  commits: z.number().int().nonnegative(),
  /** The branch of `docker.commit_branch`, when it was moved forward. */
  branch: z.string().nullable(),
  /** References for other branches and tags of the run, and for what it stashed. */
  other_refs: z.array(z.string()),
});
export type JobGit = z.infer<typeof jobGitSchema>;
