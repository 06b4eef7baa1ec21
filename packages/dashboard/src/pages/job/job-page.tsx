import { useParams } from "@tanstack/react-router";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { JobDetails } from "./job-details.tsx";
import { useJobRecord } from "./use-job.ts";

export function JobPage() {
  const { jobId } = useParams({ from: "/jobs/$jobId" });
  const { record, error } = useJobRecord(jobId);
  if (record) return <JobDetails key={jobId} record={record} />;
  return error ? <ErrorNote error={error} /> : <Loading lines={10} />;
}
