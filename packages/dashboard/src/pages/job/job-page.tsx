import { PageHead } from "../../ui/page-head.tsx";

export function JobPage() {
  return <PageHead title="Job" />;
}
