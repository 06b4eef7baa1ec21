import type { Job } from "@herdctl/server/contract";
import { classNames } from "../../ui/class-names.ts";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { Time } from "../../ui/time.tsx";

/** Explains a job that did not simply succeed; renders nothing otherwise. */
export function OutcomeNote({ job }: { job: Job }) {
  const { status, outcome, due_at, warnings } = job;
  const isSuccess = outcome === null || outcome.code === "success";
  if (isSuccess && warnings.length === 0) return null;
  const isBad = status === "failed";
  return (
    <div
      className={classNames(
        "rounded border px-3 py-1.5",
        isBad ? "border-bad bg-bad-soft" : "border-warn bg-warn-soft",
      )}
    >
      {!isSuccess && (
        <p>
          <span className={classNames("font-medium", isBad ? "text-bad" : "text-warn")}>
            <TextWithCode text={outcome.message} />
          </span>{" "}
          <TextWithCode text={outcome.hint} />
          {status === "waiting" && due_at !== null && (
            <>
              {" Resumes at "}
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
