import { EmptyState } from "../ui/empty-state.tsx";
import { TextWithCode } from "../ui/text-with-code.tsx";

export function AdminOnly() {
  return (
    <EmptyState title="Admin access required">
      <TextWithCode text="Run `herdctl open` to sign in with full access." />
    </EmptyState>
  );
}
