import { PageHead } from "../../ui/page-head.tsx";

export function DesignPage() {
  return <PageHead title="Design" />;
}
