import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useAnswer } from "../../api/queries.ts";
import type { JobRecord } from "../../job/record.ts";
import { StoryStore } from "../../job/story-store.ts";

/** All that is recorded of a job; undefined while it is on its way. */
export function useRecord(id: string): { record: JobRecord | undefined; error: unknown } {
  const found = useAnswer("job", { params: { id } });
  const asked = useAnswer("approvals", { query: { job: id } });
  const chain = useAnswer("chain", { params: { id } });
  const record = useMemo(() => {
    if (!found.data) return undefined;
    const handedOn = chain.data?.jobs.filter((job) => job.chain.parent === id) ?? [];
    return { ...found.data, approvals: asked.data?.approvals ?? [], handedOn };
  }, [id, found.data, asked.data, chain.data]);
  return { record, error: found.error };
}

/** The story of a job, read while somebody looks at it. */
export function useStory(id: string): StoryStore {
  const store = useMemo(() => new StoryStore(id), [id]);
  useEffect(() => store.start(), [store]);
  useSyncExternalStore(store.subscribe, store.snapshot);
  return store;
}

/** A value that changes often, taken over every so many milliseconds. */
export function useEvery<T>(value: T, milliseconds: number): T {
  const [taken, setTaken] = useState(value);
  const [latest] = useState({ value, timer: 0 });
  latest.value = value;
  useEffect(() => {
    if (Object.is(taken, value) || latest.timer !== 0) return;
    latest.timer = window.setTimeout(() => {
      latest.timer = 0;
      setTaken(latest.value);
    }, milliseconds);
  }, [taken, value, latest, milliseconds]);
  return taken;
}
