import { z } from "zod";

/** The commits that a run in a container made in the repository of its workspace. */
export const jobGitSchema = z.object({
  /** HEAD at the start of the run; null before the first commit. */
  head_before: z.string().nullable(),
  head_after: z.string().nullable(),
  /** The reference to HEAD of the run; null if only other branches have new commits. */
  ref: z.string().nullable(),
  /** Number of new commits. */
  commits: z.number().int().nonnegative(),
  /** The branch in `docker.commit_branch`, if it was fast-forwarded. */
  branch: z.string().nullable(),
  /** References for other branches, tags and stashes of the run. */
  other_refs: z.array(z.string()),
});
export type JobGit = z.infer<typeof jobGitSchema>;

/** Merges the commits of the attempts of a job, which share one reference. */
export function mergeJobGit(earlier: JobGit | null, later: JobGit | null): JobGit | null {
  if (later === null || earlier === null) return later ?? earlier;
  return {
    ...later,
    head_before: earlier.head_before,
    ref: later.ref ?? earlier.ref,
    commits: earlier.commits + later.commits,
    branch: later.branch ?? earlier.branch,
    other_refs: [...new Set([...earlier.other_refs, ...later.other_refs])],
  };
}
