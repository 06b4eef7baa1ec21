import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useFleetQuery } from "../../api/queries.ts";
import type { JobRecord } from "../../transcript/job-record.ts";
import { TranscriptStore } from "../../transcript/transcript-store.ts";

/** The record of a job, with approvals and delegated jobs; undefined while it loads. */
export function useJobRecord(id: string): { record: JobRecord | undefined; error: unknown } {
  const job = useFleetQuery("job", { params: { id } });
  const approvals = useFleetQuery("approvals", { query: { job: id } });
  const chain = useFleetQuery("chain", { params: { id } });
  // Shown above the conversation, which would move if they came later.
  const hooks = useFleetQuery("hooks", { query: { job: id } });
  const record = useMemo(() => {
    if (!job.data || hooks.isPending) return undefined;
    const delegatedJobs = chain.data?.jobs.filter((child) => child.chain.parent === id) ?? [];
    return { ...job.data, approvals: approvals.data?.approvals ?? [], delegatedJobs };
  }, [id, job.data, hooks.isPending, approvals.data, chain.data]);
  return { record, error: job.error };
}

/** The transcript of a job, followed while the component is mounted. */
export function useTranscript(id: string): TranscriptStore {
  const store = useMemo(() => new TranscriptStore(id), [id]);
  useEffect(() => store.start(), [store]);
  useSyncExternalStore(store.subscribe, store.snapshot);
  return store;
}

/** A frequently changing value, updated at most once per interval. */
export function useThrottled<T>(value: T, intervalMs: number): T {
  const [throttled, setThrottled] = useState(value);
  const [latest] = useState({ value, timer: 0 });
  latest.value = value;
  useEffect(() => {
    if (Object.is(throttled, value) || latest.timer !== 0) return;
    latest.timer = window.setTimeout(() => {
      latest.timer = 0;
      setThrottled(latest.value);
    }, intervalMs);
  }, [throttled, value, latest, intervalMs]);
  return throttled;
}
