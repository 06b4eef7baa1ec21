import { PageHead } from "../../ui/page-head.tsx";

export function ChatPage() {
  return <PageHead title="Chat" />;
}
