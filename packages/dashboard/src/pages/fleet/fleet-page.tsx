import { PageHead } from "../../ui/page-head.tsx";

export function FleetPage() {
  return <PageHead title="Fleet" />;
}
