import { useConnection } from "../api/connection.ts";
import { WithCode } from "../ui/with-code.tsx";

/** Over the page, which stays as it was last seen: nothing moves when the fleet goes and comes. */
export function DisconnectedBar() {
  if (useConnection() !== "away") return null;
  return (
    <div
      role="status"
      className="fixed inset-x-0 top-0 z-30 border-b border-warn bg-warn-soft px-4 py-1.5 text-center text-warn"
    >
      <WithCode text="The fleet does not answer. You see what it last told; running agents go on without it. Trying again … (`herdctl status` says more.)" />
    </div>
  );
}
