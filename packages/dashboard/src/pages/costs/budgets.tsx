import { useState } from "react";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetQuery } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Panel } from "../../ui/panel.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { type BudgetKind, toLimits } from "./budget-limits.ts";
import { RaiseBudgetDialog } from "./raise-budget-dialog.tsx";

/** Today's limits and how much of them is used. */
export function Budgets() {
  const budget = useFleetQuery("budget");
  return (
    <Panel title="Today's budgets" aside={budget.data?.day}>
      {budget.error && <ErrorNote error={budget.error} onRetry={budget.refetch} />}
      {budget.data ? <BudgetLines view={budget.data} /> : !budget.error && <Loading lines={4} />}
    </Panel>
  );
}

function BudgetLines({ view }: { view: ResponseOfRoute<"budget"> }) {
  const all = [{ agent: undefined, ...view.fleet }, ...view.agents];
  const limited = all.filter((line) => toLimits(line).length > 0);
  if (limited.length === 0) {
    return (
      <p className="text-muted">
        <TextWithCode text="No budgets are set. Add `budget: { daily_usd: 5 }` to an agent, or under `fleet` to limit all agents together." />
      </p>
    );
  }
  return (
    <ul className="flex flex-col gap-3">
      {limited.map((line) => (
        <BudgetLine key={line.agent ?? ""} agent={line.agent} limits={toLimits(line)} />
      ))}
    </ul>
  );
}

interface BudgetLineProps {
  agent: string | undefined;
  limits: ReturnType<typeof toLimits>;
}

function BudgetLine({ agent, limits }: BudgetLineProps) {
  const readOnlyReason = useReadOnlyReason();
  const [raisedKind, setRaisedKind] = useState<BudgetKind | null>(null);
  const name = agent ?? "Entire fleet";
  return (
    <li>
      <p className="mb-1 font-medium">{name}</p>
      {limits.map(({ kind, label, isUsedUp, share, text }) => (
        <div key={kind} className="mb-1 grid grid-cols-[1fr_auto] items-center gap-x-3">
          <Meter label={`${name}: ${label} budget`} value={share} isFull={isUsedUp} />
          <Button
            size="small"
            disabledReason={readOnlyReason}
            onClick={() => setRaisedKind(kind)}
            aria-label={`Raise today's ${label} budget for ${agent ?? "the entire fleet"}`}
          >
            Raise
          </Button>
          <p className="col-span-2 flex flex-wrap items-center gap-x-2 text-sm text-muted">
            <span className="whitespace-nowrap">{text}</span>
            {isUsedUp && (
              <Badge tone="bad" title="No more jobs start today">
                Used up
              </Badge>
            )}
          </p>
        </div>
      ))}
      {raisedKind && (
        <RaiseBudgetDialog agent={agent} kind={raisedKind} onClose={() => setRaisedKind(null)} />
      )}
    </li>
  );
}
