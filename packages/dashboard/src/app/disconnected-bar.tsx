import { useConnection } from "../api/connection-state.ts";
import { TextWithCode } from "../ui/text-with-code.tsx";

/** Above the page, and in sight while it is scrolled. It covers nothing. */
export function DisconnectedBar() {
  if (useConnection() !== "away") return null;
  return (
    <div
      role="status"
      className="sticky top-0 z-30 border-b border-warn bg-warn-soft px-4 py-1.5 text-center text-warn"
    >
      <TextWithCode text="The fleet is not responding. You are seeing the last known state; running agents keep working. Reconnecting… Run `herdctl status` for details." />
    </div>
  );
}
