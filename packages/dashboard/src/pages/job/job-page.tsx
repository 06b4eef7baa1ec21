import { useParams } from "@tanstack/react-router";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { JobStory } from "./job-story.tsx";
import { useRecord } from "./use-job.ts";

export function JobPage() {
  const { jobId } = useParams({ from: "/jobs/$jobId" });
  const { record, error } = useRecord(jobId);
  if (record) return <JobStory key={jobId} record={record} />;
  return error ? <ErrorNote error={error} /> : <Loading lines={10} />;
}
