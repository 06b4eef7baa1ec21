import { PageHead } from "../../ui/page-head.tsx";

export function InboxPage() {
  return <PageHead title="Inbox" />;
}
