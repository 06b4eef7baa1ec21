import { PageHead } from "../../ui/page-head.tsx";

export function AgentPage() {
  return <PageHead title="Agent" />;
}
