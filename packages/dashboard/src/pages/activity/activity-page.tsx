import { PageHead } from "../../ui/page-head.tsx";

export function ActivityPage() {
  return <PageHead title="Activity" />;
}
