import type { Job } from "@herdctl/server/contract";
import { classNames } from "../../ui/class-names.ts";
import { Time } from "../../ui/time.tsx";
import { WithCode } from "../../ui/with-code.tsx";

/** What a person should know of how it stands; nothing where all is well. */
export function Outcome({ job }: { job: Job }) {
  const { status, outcome, due_at, warnings } = job;
  const isPlain = outcome === null || outcome.code === "success";
  if (isPlain && warnings.length === 0) return null;
  const isBad = status === "failed";
  return (
    <div
      className={classNames(
        "rounded border px-3 py-1.5",
        isBad ? "border-bad bg-bad-soft" : "border-warn bg-warn-soft",
      )}
    >
      {!isPlain && (
        <p>
          <span className={classNames("font-medium", isBad ? "text-bad" : "text-warn")}>
            <WithCode text={outcome.message} />
          </span>{" "}
          <WithCode text={outcome.hint} />
          {status === "waiting" && due_at !== null && (
            <>
              {" It goes on at "}
              <Time at={due_at} />.
            </>
          )}
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="text-sm">
          {warning}
        </p>
      ))}
    </div>
  );
}
